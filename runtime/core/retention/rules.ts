/**
 * Retention periods of rows, with one entry for each table that grows with time. The reference is generated
 * from it.
 */
import { type SQL, sql } from 'drizzle-orm'
import { isKeyOf, keysOf, mapValues } from '../../contract/schema/keys.ts'
import { literals } from '../../database/schema/literals.ts'
import { OPEN_STATES } from '../../database/schema/tasks.ts'
import { REQUEST_STATES } from '../requests/machine/states.ts'

type Row = {
  /** Description of the rows, for people. */
  what: string
  /** Days that a row is kept after `moment`. */
  keptDays: number
  /** Minimum that an operator may set, or null if it cannot be set. */
  leastDays: number | null
  /** Rows that stay regardless of their age, for people. */
  stays: string
  /** Time when a row ended. */
  moment: SQL
  /** Condition on the row's own columns. The index of `moment` is partial by it. */
  isDone?: SQL
  /** Condition: nothing else needs the row any more. Without one, nothing ever needs it. */
  isOver?: SQL
  /** Primary key, which orders rows of the same moment, and its type. The default is the uuid `id`. */
  key?: readonly [column: string, type: 'uuid' | 'bigint' | 'text']
  /** Statement to run before rows are removed, given the days that they are kept. */
  first?: (days: number) => SQL
  /** Rows are added and end in the order of their keys, so only the oldest are read. */
  inOrder?: true
}

/** States of requests that have ended and left no access in any system. */
const REQUESTS_OVER = Object.entries(REQUEST_STATES)
  .filter(
    ([name, { standing }]) =>
      standing === 'over' &&
      !['TIME_BASED_EXPIRED_FAILED', 'TIME_BASED_EXPIRED_CANCELLED'].includes(name),
  )
  .map(([name]) => name)

/** Number of the latest runs of an app that always stay. */
const RUNS_PER_APP = 20

/** Latest successful run of each app. Evaluated once per statement, not for each row. */
const LATEST_SUCCESSFUL = sql`array(select coalesce((select r.id from sync_runs r
  where r.app_id = apps.id and r.state = 'SUCCEEDED' order by r.id desc limit 1), 0) from apps)`

/**
 * Condition: the run is not the first one of a current association, whose span begins with it. All
 * associations are read once per statement, if any run is old enough.
 */
const FIRST_SAW_NOTHING_HELD = sql`id not in (
  select distinct first_run from associations where first_run is not null)`

/**
 * Returns the entry for spans of the history that have ended. Queries of the past are limited accordingly
 * (core/history).
 */
const ended = (what: string) =>
  ({
    what: `history: ${what}`,
    keptDays: 2555,
    leastDays: 90,
    stays: 'what still holds',
    moment: sql`until`,
    key: ['id', 'bigint'],
    isDone: sql`until is not null`,
    // Earlier access is no longer completely known.
    first: (days: number) => sql`
      update history_start set since = date_trunc('milliseconds', now() - make_interval(days => ${days}))
      where since < now() - make_interval(days => ${days})`,
  }) as const satisfies Row

export const RETENTION = {
  sync_runs: {
    what: 'runs of syncs',
    keptDays: 90,
    leastDays: 1,
    stays: `running ones, the latest ${RUNS_PER_APP} of each app, its latest successful one, and those that first saw an entitlement that is still held`,
    moment: sql`ended_at`,
    key: ['id', 'bigint'],
    isOver: sql`state <> 'RUNNING' and id < (
      select min(newest.id) from (
        select r.id from sync_runs r where r.app_id = sync_runs.app_id
        order by r.id desc limit ${RUNS_PER_APP}) newest)
      and id <> all(${LATEST_SUCCESSFUL}) and ${FIRST_SAW_NOTHING_HELD}`,
  },
  identity_events: {
    what: 'changes to people by syncs of the identity source',
    keptDays: 400,
    leastDays: 30,
    stays: 'nothing; the activity log also has these changes',
    moment: sql`detected_at`,
    key: ['id', 'bigint'],
    inOrder: true,
  },
  account_spans: ended('earlier states of accounts'),
  association_spans: ended('entitlements that accounts held'),
  member_spans: ended('memberships of groups'),
  reason_spans: ended('reasons for access'),
  access_requests: {
    what: 'access requests',
    keptDays: 730,
    leastDays: 30,
    stays:
      'those in progress, those whose access exists, those that a policy made and still wants, and those that an open task or account refers to',
    moment: sql`updated_at`,
    isDone: sql`todo is null and wake_at is null and status <> 'COMPLETED'`,
    isOver: sql`status in (${literals(REQUESTS_OVER)}) and policy_for is null
      and not exists (select from holders where left_by = access_requests.id)
      and not exists (select from tasks
        where access_request_id = access_requests.id and status in (${OPEN_STATES}))`,
  },
  tasks: {
    what: 'tasks with their comments',
    keptDays: 730,
    leastDays: 30,
    stays: 'open ones, and those of a kept request or offboarding',
    moment: sql`updated_at`,
    isDone: sql`status not in (${OPEN_STATES})`,
    isOver: sql`not exists (select from access_requests r where r.id = tasks.access_request_id)
      and not exists (select from offboarding_steps s where s.task_id = tasks.id)`,
  },
  user_offboardings: {
    what: 'offboardings with their steps',
    keptDays: 730,
    leastDays: 30,
    stays: 'those in progress, and failed ones',
    moment: sql`updated_at`,
    isDone: sql`wake_at is null`,
    isOver: sql`status in ('COMPLETED', 'CANCELLED', 'EXPIRED')`,
  },
  access_reviews: {
    what: 'access reviews with their lines and decisions',
    keptDays: 2555,
    leastDays: 365,
    stays: 'those in progress, and recurring ones',
    moment: sql`updated_at`,
    isDone: sql`wake_at is null`,
    isOver: sql`status in ('COMPLETED', 'DELETED') and next_at is null`,
  },
  findings: {
    what: 'resolved findings',
    keptDays: 730,
    leastDays: 30,
    stays: 'open and accepted ones',
    moment: sql`resolved_at`,
    isDone: sql`resolved_at is not null`,
  },
  expenses: {
    what: 'expenses reported by apps',
    keptDays: 2555,
    leastDays: 400,
    stays: 'nothing',
    moment: sql`transaction_date`,
    key: ['id', 'bigint'],
  },
  delegations: {
    what: 'delegations of approvers that have ended',
    keptDays: 730,
    leastDays: 30,
    stays: 'those that have not ended',
    moment: sql`until`,
  },
  scim_tokens: {
    what: 'tokens of identity providers that were revoked or have expired',
    keptDays: 90,
    leastDays: 1,
    stays: 'valid ones',
    moment: sql`least(revoked_at, expires_at)`,
  },
  api_tokens: {
    what: 'API tokens that were revoked or have expired',
    keptDays: 90,
    leastDays: 1,
    stays: 'valid ones, and retired ones of the operator: those must never become valid again',
    moment: sql`least(revoked_at, expires_at)`,
    isDone: sql`not operator`,
  },
  mails: {
    what: 'sent, refused and dropped mails: the event and the person',
    keptDays: 90,
    leastDays: 14,
    stays: 'waiting ones',
    moment: sql`ended_at`,
    isOver: sql`ended_at is not null`,
  },
  uploads: {
    what: 'uploads and their results',
    keptDays: 30,
    leastDays: 1,
    stays: 'those not yet processed',
    moment: sql`finished_at`,
    isOver: sql`finished_at is not null`,
  },
  call_minutes: {
    what: 'results of calls, counted by minute',
    keptDays: 30,
    leastDays: 1,
    stays: 'nothing',
    moment: sql`minute`,
    key: ['id', 'bigint'],
    inOrder: true,
  },
  sessions: {
    what: 'sessions of the settings pages',
    keptDays: 0,
    leastDays: null,
    stays: 'valid ones',
    moment: sql`expires_at`,
  },
  login_links: {
    what: 'login links',
    keptDays: 0,
    leastDays: null,
    stays: 'valid ones',
    moment: sql`expires_at`,
  },
  shared_answers: {
    what: 'answers that several hosts wait for',
    keptDays: 0,
    leastDays: null,
    stays: 'those still being determined',
    moment: sql`until`,
    key: ['key', 'text'],
  },
} as const satisfies Record<string, Row>

export type RetentionName = keyof typeof RETENTION
export const RETENTION_NAMES = keysOf(RETENTION)

/** Returns the row of a table, with defaults. */
export const retentionOf = (name: RetentionName): Whole => ({
  ...{ isDone: sql`true`, isOver: sql`true`, key: ['id', 'uuid'] },
  ...RETENTION[name],
})
type Whole = Row & Required<Pick<Row, 'isDone' | 'isOver' | 'key'>>

/** Table -> how its growth is bounded by other means. */
export const KEPT_OTHERWISE: Readonly<Record<string, string>> = {
  activity_personal: 'kept as long as the log, or until the person is erased',
  activity_redactions: 'one for each entry of the log from which names were erased',
  activity_waiting: 'kept until they are chained into `activity_logs`, within a second',
  generations: 'kept forever: who changed the installation, when and why',
  installed_states: 'kept forever, one for all generations with the same content',
  packages:
    'kept while one of the latest 100 generations names them, and at least a day; removed at the next change',
  nodes: 'removed an hour after the host was last seen',
  event_feeds: 'one row for each webhook',
  table_changes: 'folded into one row for each table, repeatedly',
}

type Settable = {
  what: string
  /** Days that rows are kept, or null for ever. */
  keptDays: number | null
  leastDays: number | null
  stays: string
}

/** Tables that grow with time and are pruned by other code. Their days are set like those of RETENTION. */
export const REMOVED_ELSEWHERE = {
  jobs: {
    what: 'background jobs, in the schema `jobs`',
    keptDays: 7,
    leastDays: 1,
    stays: 'waiting and running ones',
  },
  activity_logs: {
    what: 'entries of the activity log, oldest first; the rest still verifies, from the last removed entry on',
    keptDays: null,
    leastDays: 365,
    stays: 'the newest, and entries still to be sent to a webhook',
  },
} as const satisfies Record<string, Settable>

/** All settable tables by name, in the order of the reference. */
export const KEPT: Readonly<Record<string, Settable>> = { ...RETENTION, ...REMOVED_ELSEWHERE }

/** Days by table. */
export type KeptDays = Readonly<
  Record<RetentionName, number> & { jobs: number; activity_logs: number | null }
>

const DEFAULTS: KeptDays = {
  ...mapValues(RETENTION, ({ keptDays }): number => keptDays),
  jobs: REMOVED_ELSEWHERE.jobs.keptDays,
  activity_logs: REMOVED_ELSEWHERE.activity_logs.keptDays,
}

/** Names that an operator may set. */
const SETTABLE = Object.keys(KEPT).filter((name) => KEPT[name]?.leastDays !== null)

/** Maximum setting, in days: a hundred years. */
const MAX_DAYS = 36_500

/**
 * Parses `KEYWAY_RETENTION`, such as `tasks=365 sync_runs=30`.
 *
 * @throws Error with a message that names the wrong entry
 */
export function parseRetention(text: string): KeptDays {
  const set: Record<string, number> = {}
  for (const entry of text.split(/[\s,]+/).filter(Boolean)) {
    const [, name = '', digits = ''] = /^([a-z_]+)=([0-9]{1,6})$/.exec(entry) ?? []
    const row = isKeyOf(KEPT, name) ? KEPT[name] : undefined
    if (!row || row.leastDays === null)
      throw new Error(
        `KEYWAY_RETENTION: "${entry}" is not an entry such as tasks=365; what can be set: ${SETTABLE.join(', ')}`,
      )
    const days = Number(digits)
    if (days < row.leastDays || days > MAX_DAYS)
      throw new Error(
        `KEYWAY_RETENTION: ${name} is kept between ${row.leastDays} and ${MAX_DAYS} days, not ${days}`,
      )
    set[name] = days
  }
  return { ...DEFAULTS, ...set }
}
