/** Uploads of accounts and of their activity: core-interface.md sections 1.5 and 2. */
import * as v from 'valibot'
import { bodyEntry, type ValidationEntry } from '../errors/problem.ts'
import { parseDatetime } from '../schema/datetime.ts'
import { described, maybe, object, strictObject } from '../schema/schemas.ts'
import { ACCOUNT_STATUSES } from './app.ts'

/** Maximum number of accounts, or records, of one upload. */
const MAX_ROWS = 10_000
/** Maximum length of an account's id, in characters. It is in an index. */
const MAX_IDENTIFIER = 512
/** Maximum number of permissions, and of attributes, of one account. */
const MAX_FACTS = 1000

/** Kinds of uploads. */
export const UPLOAD_KINDS = ['accounts', 'activity'] as const
export type UploadKind = (typeof UPLOAD_KINDS)[number]

const FLOW_STATES = ['SUCCESS', 'FAILURE', 'RUNNING', 'NOT_STARTED'] as const
const RUN_STATES = ['RUNNING', 'DONE'] as const

export const JobStateOutput = strictObject('JobStateOutput', 'Progress of an upload', {
  job_id: v.string(),
  state: v.picklist(FLOW_STATES),
})

export const SyncTaskOutput = strictObject(
  'SyncTaskOutput',
  'Whether records have been processed',
  { job_id: v.string(), state: v.picklist(RUN_STATES) },
)

export const ActivityRecordOutput = strictObject('ActivityRecordOutput', { job: SyncTaskOutput })

const words = (most = 1000) => v.pipe(v.string(), v.maxLength(most))

const identifier = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(MAX_IDENTIFIER),
  v.metadata({ description: 'Id of the account in the app' }),
)

/** A point in time in any format that clients send. */
const moment = v.pipe(
  v.string(),
  v.check(
    (text) => parseDatetime(text) !== null,
    'should be a moment such as 2026-01-31T12:00:00Z',
  ),
  v.metadata({
    description: 'ISO 8601, UTC if it has no zone; a date alone; or Unix seconds',
  }),
)

const PermissionInput = object('PermissionInput', {
  unique_identifier: maybe(words()),
  type: maybe(words()),
  name: maybe(words()),
})

const AttributeInput = object('AttributeInput', {
  unique_identifier: maybe(words()),
  type: maybe(words()),
  name: maybe(words()),
})

export const AccountInput = object(
  'AccountInput',
  'An account, identified by its id or else its e-mail address',
  {
    unique_identifier: v.nullable(identifier),
    email: maybe(v.pipe(v.string(), v.minLength(1), v.maxLength(320))),
    first_name: maybe(words()),
    last_name: maybe(words()),
    last_activity: maybe(moment),
    last_login: maybe(moment),
    status: maybe(v.picklist(ACCOUNT_STATUSES)),
    permissions: v.optional(v.pipe(v.array(PermissionInput), v.maxLength(MAX_FACTS)), []),
    attributes: v.optional(v.pipe(v.array(AttributeInput), v.maxLength(MAX_FACTS)), []),
  },
)
export type AccountInput = v.InferOutput<typeof AccountInput>

const UploadAccountsInput = object('UploadAccountsInput', {
  app_id: described(v.string(), 'Id of a custom app'),
  accounts: v.optional(v.pipe(v.array(AccountInput), v.maxLength(MAX_ROWS)), []),
})

export const ActivityRecord = object('ActivityRecordInputRecord', 'A use of an account', {
  account: v.object({
    external_id: maybe(identifier),
    email: maybe(v.pipe(v.string(), v.minLength(1), v.maxLength(320))),
  }),
  event: v.object({ type: v.picklist(['LOGIN', 'ACTIVITY']) }),
  timestamp: moment,
  source_app_id: described(v.string(), 'The app of the account, unless `app` names another'),
  app: maybe(
    v.object({
      instance_identifier: described(v.string(), 'The `instance_id` of the app of the account'),
    }),
  ),
})
export type ActivityRecord = v.InferOutput<typeof ActivityRecord>

const ActivityRecordInput = object('ActivityRecordInput', {
  records: v.pipe(v.array(ActivityRecord), v.maxLength(MAX_ROWS)),
})

/** A validated upload. Its rows stay one text, as they are stored. */
export type Uploaded = {
  /** Ids of the apps in it, without duplicates. */
  apps: string[]
  /** JSON of the list. */
  rows: string
  count: number
  /** The first hundred errors in the rows. */
  wrong: ValidationEntry[]
}

export const UploadedAccounts = v.pipe(
  UploadAccountsInput,
  v.transform(
    ({ app_id, accounts }): Uploaded => ({
      apps: [app_id],
      rows: JSON.stringify(accounts),
      count: accounts.length,
      wrong: doubled(accounts).slice(0, MAX_ENTRIES),
    }),
  ),
)

export const UploadedActivity = v.pipe(
  ActivityRecordInput,
  v.transform(
    ({ records }): Uploaded => ({
      apps: [...new Set(records.map(({ source_app_id }) => source_app_id))],
      rows: JSON.stringify(records),
      count: records.length,
      wrong: unnamed(records).slice(0, MAX_ENTRIES),
    }),
  ),
)

/** Maximum number of entries of a 422. */
const MAX_ENTRIES = 100

const unnamed = (records: readonly ActivityRecord[]): ValidationEntry[] =>
  records.flatMap(({ account }, index) =>
    account.external_id === undefined && account.email === undefined
      ? [bodyEntry(['records', index, 'account'], 'external_id or email must name the account')]
      : [],
  )

/**
 * Returns the errors of accounts that have no key or share one. The key is the id, or else the e-mail
 * address.
 */
function doubled(accounts: readonly AccountInput[]): ValidationEntry[] {
  const seen = new Map<string, number>()
  return accounts.flatMap(({ unique_identifier: id, email }, index) => {
    const name = id ?? email?.toLowerCase()
    if (name === undefined)
      return [bodyEntry(['accounts', index], 'unique_identifier or email must name the account')]
    const earlier = seen.get(name)
    seen.set(name, earlier ?? index)
    if (earlier === undefined) return []
    return [bodyEntry(['accounts', index], `it is the account of accounts[${earlier}] again`)]
  })
}
