/**
 * Selects the accounts and entitlements of an app that a review covers: core-interface.md sections 1.12, 2.1
 * and 2.2.
 */
import * as v from 'valibot'
import { parseDatetime } from '../schema/datetime.ts'
import { keysOf } from '../schema/keys.ts'
import { anyObject, described, maybe, nullable, strictObject } from '../schema/schemas.ts'

const OPTION_TYPES = [
  'STRING',
  'INTEGER',
  'DATETIME',
  'SINGLESELECT',
  'MULTISELECT',
  'USER',
  'GROUP',
] as const

type GroupRow = { name: string; type: (typeof OPTION_TYPES)[number]; keeps: string }

/** Notation of a time in a filter that has only one value. */
const TIMES =
  '`2026-01-01/2026-03-31`, `2026-01-01/..`, `../2026-03-31`, or `P90D` for the last 90 days'

/** A group whose values are chosen from a list. */
const several = (name: string, keeps: string) => ({ name, type: 'MULTISELECT', keeps }) as const

/** Filter groups with a single value -> how they are shown, and which lines they keep. */
const SCALAR_SCOPES = {
  ACCOUNT_ENTITLEMENT: several(
    'Entitlement',
    'this entitlement, by its id; in a review of accounts, accounts that hold it',
  ),
  ENTITLEMENT_TAG: several(
    'Kind of entitlement',
    'entitlements of this type, or with one of the tags `PRIVILEGED`, `LICENCE` (by their names) and `REQUESTABLE` (in the store)',
  ),
  TEAM: several(
    'Team of the person',
    'people with this value of the attribute `team`, or without one, of `department`',
  ),
  EMPLOYMENT_STATUS: several('State of the person', 'people in this state'),
  EMAIL_DOMAIN: several('Domain of the address', 'accounts with an address of this domain'),
  CATEGORIES: several(
    'Category of the account',
    'accounts of this kind: `USER`, `ROLE` or `SERVICE`',
  ),
  ACCOUNT_DELTA: several(
    'Change since the last review',
    '`NEW`: access that did not exist when the app was last reviewed; `CHANGED`: access that existed, of an account whose person, state or address has changed since; `UNCHANGED`: all other access',
  ),
  ACCOUNT_STATUS: several('State of the account', 'accounts in this state'),
  ACCOUNT_SOURCE: several('Source of the account', 'accounts reported by this source'),
  SOD_POLICY: several(
    'Separation of duties',
    'people who break this rule, by id, if it is enabled',
  ),
  ACCESS_GRANTED_AT: {
    name: 'Held since',
    type: 'STRING',
    keeps: `access held since a time: ${TIMES}`,
  },
  ACCESS_REQUESTED_AT: {
    name: 'Requested',
    type: 'STRING',
    keeps: 'access granted by a request made at such a time',
  },
  ACCESS_APPROVED_AT: {
    name: 'Approved',
    type: 'STRING',
    keeps:
      'access granted by a request last approved at such a time; a request without approval counts from its creation',
  },
  ACCESS_PROVISIONED_AT: {
    name: 'Given by a request',
    type: 'STRING',
    keeps: 'access granted by a request at such a time',
  },
  ACCESS_LENGTH: several(
    'Length of the access',
    'access granted by a request for this length: `30 days`, `Unlimited` and so on',
  ),
  USER_OR_GROUP: {
    name: 'Person or group',
    type: 'USER',
    keeps: 'this person, or the members of this group, by id',
  },
  UNMATCHED_ACCOUNTS: {
    name: 'Accounts without a known person',
    type: 'SINGLESELECT',
    keeps: 'accounts without a known person',
  },
} as const satisfies Record<string, GroupRow>

const DATETIME_SCOPES = {
  LAST_LOGIN: {
    name: 'Last login',
    type: 'DATETIME',
    keeps: 'accounts with a last login between `after` and `before`, inclusive',
  },
  LAST_ACTIVITY: {
    name: 'Last activity',
    type: 'DATETIME',
    keeps: 'accounts with a last activity between `after` and `before`, inclusive',
  },
} as const satisfies Record<string, GroupRow>

/**
 * Filter group -> how it is shown, and which lines its filters keep. The queries:
 * core/reviews/scope-table.ts.
 */
export const SCOPE_GROUPS = {
  ...SCALAR_SCOPES,
  ...DATETIME_SCOPES,
  CUSTOM_ATTRIBUTE: {
    name: 'Attribute of the person',
    type: 'STRING',
    keeps: 'people with this value of the attribute `name`',
  },
} as const satisfies Record<string, GroupRow>
export type ScopeGroup = keyof typeof SCOPE_GROUPS
const GROUP_NAMES = keysOf(SCOPE_GROUPS)

/** Maximum number of filters of an app, or of a query for lines. */
export const MAX_FILTERS = 50

const short = v.pipe(v.string(), v.maxLength(255))

const value = {
  name: short,
  label: short,
  value: maybe(short),
  type: maybe(short),
}

/** Returns the schema of a date and time in a request. */
export const sentMoment = (description: string) =>
  v.pipe(
    v.string(),
    v.check((text) => parseDatetime(text) !== null, 'a date and time such as 2030-01-31T18:00:00Z'),
    v.metadata({ description: `${description}; UTC if it has no zone` }),
  )

const scalar = strictObject('ScalarScopeFilterInput', {
  group: v.picklist(keysOf(SCALAR_SCOPES)),
  ...value,
})
const attribute = strictObject(
  'CustomAttributeScopeFilterInput',
  '`name` is the attribute of the person, `value` its required value',
  { group: v.literal('CUSTOM_ATTRIBUTE'), ...value },
)
const between = strictObject('DatetimeScopeFilterInput', {
  group: v.picklist(keysOf(DATETIME_SCOPES)),
  after: maybe(sentMoment('Not before')),
  before: maybe(sentMoment('Not after')),
})

/** A filter. Filters of one group are alternatives; all groups must match. */
export const ScopeFilter = v.variant('group', [scalar, attribute, between])
export type ScopeFilter = v.InferOutput<typeof ScopeFilter>

export const ScopeFilterGroupOutput = strictObject('ScopeFilterGroupOutput', {
  name: v.string(),
  group: v.picklist(GROUP_NAMES),
  type: v.picklist(OPTION_TYPES),
  items: v.array(
    v.strictObject({
      group: v.picklist(GROUP_NAMES),
      name: v.string(),
      label: v.string(),
      value: nullable(v.string()),
      type: nullable(v.string()),
    }),
  ),
  filter_input_template: nullable(anyObject()),
  default_label: nullable(v.string()),
  truncated: described(v.boolean(), 'Whether there are more than listed'),
})
export type ScopeFilterGroupOutput = v.InferInput<typeof ScopeFilterGroupOutput>

export const ScopeOptionsResponse = strictObject(
  'ScopeOptionsResponse',
  'The filters that an app can have',
  { scope_options: v.array(ScopeFilterGroupOutput) },
)

/** Maximum number of lines that a preview shows. */
export const PREVIEW_LINES = 20

export const ScopePreview = strictObject(
  'AccessReviewScopePreview',
  'Lines that a scope would select, by the current data of the app',
  {
    synced: described(
      v.number(),
      'Number of items in the app: synced = items + excluded + left_out',
    ),
    items: described(v.number(), 'Number of lines that a review would have'),
    accounts: described(v.number(), 'Number of accounts of those lines'),
    excluded: described(v.record(v.string(), v.number()), 'Number excluded, by filter group'),
    left_out: described(v.number(), 'Number without a known account or entitlement'),
    examples: described(
      v.array(v.strictObject({ unique_identifier: v.string(), label: nullable(v.string()) })),
      `The first ${PREVIEW_LINES} lines`,
    ),
  },
)
export type ScopePreview = v.InferInput<typeof ScopePreview>
