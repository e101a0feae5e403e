/** Which accounts and entitlements of an app a review looks at: core-interface.md sections 1.12, 2.1 and 2.2. */
import * as v from 'valibot'
import { parseDatetime } from '../schema/datetime.ts'
import { anyObject } from '../schema/free-object.ts'
import { maybe, nullable } from '../schema/optional.ts'

const SCALAR_GROUPS = [
  'ACCOUNT_ENTITLEMENT',
  'TEAM',
  'EMPLOYMENT_STATUS',
  'EMAIL_DOMAIN',
  'CATEGORIES',
  'ACCOUNT_DELTA',
  'ACCOUNT_STATUS',
  'ACCOUNT_SOURCE',
  'SOD_POLICY',
  'ACCESS_GRANTED_AT',
  'ACCESS_REQUESTED_AT',
  'ACCESS_APPROVED_AT',
  'ACCESS_PROVISIONED_AT',
  'ACCESS_LENGTH',
  'USER_OR_GROUP',
  'UNMATCHED_ACCOUNTS',
  'ENTITLEMENT_TAG',
] as const
const DATETIME_GROUPS = ['LAST_LOGIN', 'LAST_ACTIVITY'] as const

export const SCOPE_GROUPS = [...SCALAR_GROUPS, ...DATETIME_GROUPS, 'CUSTOM_ATTRIBUTE'] as const
export type ScopeGroup = (typeof SCOPE_GROUPS)[number]

const short = v.pipe(v.string(), v.maxLength(255))

const value = {
  name: short,
  label: short,
  value: maybe(short),
  type: maybe(short),
}

/** A moment that a caller sends. */
export const sentMoment = (description: string) =>
  v.pipe(
    v.string(),
    v.check((text) => parseDatetime(text) !== null, 'a date and time such as 2030-01-31T18:00:00Z'),
    v.metadata({ description: `${description}; UTC where no zone is named` }),
  )

const scalar = v.pipe(
  v.strictObject({ group: v.picklist(SCALAR_GROUPS), ...value }),
  v.metadata({ title: 'ScalarScopeFilterInput' }),
)
const attribute = v.pipe(
  v.strictObject({ group: v.literal('CUSTOM_ATTRIBUTE'), ...value }),
  v.metadata({
    title: 'CustomAttributeScopeFilterInput',
    description: '`name` is the attribute of the person, `value` what it must be',
  }),
)
const between = v.pipe(
  v.strictObject({
    group: v.picklist(DATETIME_GROUPS),
    after: maybe(sentMoment('Not before')),
    before: maybe(sentMoment('Not after')),
  }),
  v.metadata({ title: 'DatetimeScopeFilterInput' }),
)

/** Filters of one group are alternatives; of different groups all must hold. */
export const ScopeFilter = v.variant('group', [scalar, attribute, between])
export type ScopeFilter = v.InferOutput<typeof ScopeFilter>

const OPTION_TYPES = [
  'STRING',
  'INTEGER',
  'DATETIME',
  'SINGLESELECT',
  'MULTISELECT',
  'USER',
  'GROUP',
] as const

export const ScopeFilterGroupOutput = v.pipe(
  v.strictObject({
    name: v.string(),
    group: v.picklist(SCOPE_GROUPS),
    type: v.picklist(OPTION_TYPES),
    items: v.array(
      v.strictObject({
        group: v.picklist(SCOPE_GROUPS),
        name: v.string(),
        label: v.string(),
        value: nullable(v.string()),
        type: nullable(v.string()),
      }),
    ),
    filter_input_template: nullable(anyObject()),
    default_label: nullable(v.string()),
    truncated: v.pipe(v.boolean(), v.metadata({ description: 'There are more than are listed' })),
  }),
  v.metadata({ title: 'ScopeFilterGroupOutput' }),
)
export type ScopeFilterGroupOutput = v.InferInput<typeof ScopeFilterGroupOutput>

export const ScopeOptionsResponse = v.pipe(
  v.strictObject({ scope_options: v.array(ScopeFilterGroupOutput) }),
  v.metadata({ title: 'ScopeOptionsResponse', description: 'The filters that an app can have' }),
)
