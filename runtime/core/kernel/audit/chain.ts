/**
 * What ties the rows of the log together: each row's hash covers its own content and the hash of the
 * row before it, so that a row which is changed, removed or put between others later shows.
 */
import { createHash } from 'node:crypto'
import { and, asc, desc, eq, gt } from 'drizzle-orm'
import type { LogChain } from '../../../contract/endpoints/meta.ts'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import type { Db } from '../../../database/database.ts'
import { activityCheckpoints, activityLogs } from '../../../database/schema/audit.ts'
import { commitmentOf, commitmentsIn, valuesOf } from './personal.ts'
import { countWaiting, isThere } from './waiting.ts'

/** What a hash covers: every column but the row's number and the hash itself. */
type LogContent = Pick<
  typeof activityLogs.$inferSelect,
  'domainId' | 'eventType' | 'outcome' | 'actor' | 'targets' | 'metadata' | 'beganAt'
>

/** The hash of the row before the first one. */
export const BEGINNING = ''

/**
 * The hash of a row, 128 hex digits: SHA-512 of canonical JSON, because PostgreSQL's jsonb keeps no order
 * of members and what is stored must be enough to compute it again.
 */
export function hashOf(before: string, row: LogContent): string {
  const [first, moment] = [JSON.stringify(before), JSON.stringify(row.beganAt)]
  return createHash('sha512')
    .update(`[${first},${bodyOf(row)},${moment}]`)
    .digest('hex')
}

/** What a hash covers between the hash before and the moment, as the database's `chain_activity` takes it. */
export function bodyOf(row: Omit<LogContent, 'beganAt'>): string {
  const { domainId, eventType, outcome, actor, targets, metadata } = row
  return canonicalJson([domainId, eventType, outcome, actor, targets, metadata]).slice(1, -1)
}

export type Verification = {
  /** Rows that fit. */
  rows: number
  /** Rows that were removed before them, because they were kept long enough; the others go on from their last hash. */
  removed: number
  /** Hash of the last row that fits: kept elsewhere, it shows later whether the end was cut off. */
  head: string
  /** The first row that does not fit, or null. */
  broken: { id: bigint; eventType: string; beganAt: Date } | null
  /** Whether the hash that was asked for is among the rows. */
  found: boolean
  /** Entries that are recorded and not chained yet: nothing shows whether they are what was written. */
  waiting: number
  /** Personal values that are not there any more, because their person was erased. */
  erased: number
}

/** Rows that are read at once. */
const PAGE = 1000

/** Walks the chain of a domain from its beginning and stops at the first row that does not fit. */
export async function verifyActivity(
  db: Db,
  domainId: string,
  options: { find?: string; onRows?(rows: number): void } = {},
): Promise<Verification> {
  const { find = BEGINNING, onRows = () => {} } = options
  const begin = await checkpointOf(db, domainId)
  const removed = begin.rows
  let head = begin.eventHash
  let last: bigint | null = null
  let rows = 0
  let found = find === BEGINNING || find === head
  // Counted first: what is chained meanwhile is among the rows.
  const waiting = await countWaiting(db, domainId)
  let erased = 0
  for (;;) {
    const page: (typeof activityLogs.$inferSelect)[] = await db
      .select()
      .from(activityLogs)
      .where(
        and(
          eq(activityLogs.domainId, domainId),
          last === null ? undefined : gt(activityLogs.id, last),
        ),
      )
      .orderBy(asc(activityLogs.id))
      .limit(PAGE)
    const values = await checkValues(db, page)
    for (const row of page) {
      if (row.eventHash !== hashOf(head, row) || values.wrong.has(row.id)) {
        // The oldest entries were removed since.
        if (rows === 0 && (await checkpointOf(db, domainId)).eventHash !== begin.eventHash)
          return verifyActivity(db, domainId, options)
        return { rows, removed, head, broken: row, found, waiting, erased }
      }
      head = row.eventHash
      last = row.id
      rows += 1
      if (head === find) found = true
    }
    erased += values.erased
    onRows(rows)
    if (page.length < PAGE) return { rows, removed, head, broken: null, found, waiting, erased }
  }
}

/** Entries that `verifyNewest` compares. */
const NEWEST = 1000

/** Whether the newest entries fit each other; the one before them is taken as it is. */
export async function verifyNewest(db: Db, domainId: string): Promise<LogChain> {
  const waiting = await countWaiting(db, domainId)
  const found = await db
    .select()
    .from(activityLogs)
    .where(eq(activityLogs.domainId, domainId))
    .orderBy(desc(activityLogs.id))
    .limit(NEWEST + 1)
  const rows = found.reverse()
  const { wrong } = await checkValues(db, rows)
  let head = rows[0]?.eventHash ?? BEGINNING
  let checked = 0
  for (const row of rows.slice(1)) {
    if (row.eventHash !== hashOf(head, row) || wrong.has(row.id)) {
      const broken = { event_type: row.eventType, event_began_at: row.beganAt.toISOString() }
      return { checked, waiting, head, broken }
    }
    head = row.eventHash
    checked += 1
  }
  return { checked, waiting, head, broken: null }
}

/** Which rows have a value beside them that is not the one they commit to, and how many values are not there any more. */
async function checkValues(db: Db, rows: readonly (typeof activityLogs.$inferSelect)[]) {
  const kept = await valuesOf(db, rows)
  const wrongValues = new Set(
    kept
      .filter(({ commitment, salt, value }) => commitment !== commitmentOf(salt, value))
      .map(({ commitment }) => commitment),
  )
  const wrong = rows.filter((row) => commitmentsIn([row]).some((one) => wrongValues.has(one)))
  return {
    wrong: new Set(wrong.map(({ id }) => id)),
    erased: commitmentsIn(rows).length - kept.length,
  }
}

/** Where the chain begins: behind the entries that were removed. */
async function checkpointOf(
  db: Db,
  domainId: string,
): Promise<{ eventHash: string; rows: number }> {
  const none = { eventHash: BEGINNING, rows: 0 }
  if (!(await isThere(db, 'activity_checkpoints'))) return none
  const { eventHash, rows } = activityCheckpoints
  const [known] = await db
    .select({ eventHash, rows })
    .from(activityCheckpoints)
    .where(eq(activityCheckpoints.domainId, domainId))
  return known ?? none
}
