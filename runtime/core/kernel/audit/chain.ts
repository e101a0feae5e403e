/**
 * The hash chain of the log. Each row's hash covers its own content and the hash of the previous row, so that
 * a row that is changed, removed or inserted later is detected.
 */
import { and, asc, desc, eq, gt } from 'drizzle-orm'
import { inSlices, type Steps } from '../../../bounded/slices.ts'
import type { LogChain } from '../../../contract/endpoints/meta.ts'
import type { Db } from '../../../database/database.ts'
import { activityCheckpoints, activityLogs, type LogRow } from '../../../database/schema/audit.ts'
import { BEGINNING, hashOf } from './entry-hash.ts'
import { commitmentOf, commitmentsIn, type PersonalValue, personalValuesOf } from './personal.ts'
import { LOG_REDACTED_EVENT, type Redacted, redactedIn, unrecorded } from './redacted.ts'
import { countWaiting, isThere } from './unchained-entries.ts'

export type Verification = {
  /** Number of rows that match the chain. */
  rows: number
  /**
   * Number of earlier rows that were removed after their retention period. The chain continues from their
   * last hash.
   */
  removed: number
  /** Hash of the last row that matches. Stored elsewhere, it later proves that the end was not cut off. */
  head: string
  /** First row that does not match, or null. */
  broken: { id: bigint; eventType: string; beganAt: Date } | null
  /** True if the requested hash is among the rows. */
  found: boolean
  /** Number of entries that are recorded and not yet chained. Nothing proves that they are as written. */
  waiting: number
  /** Number of personal values that were removed because their person was erased. */
  erased: number
  /**
   * Number of rows with redacted names. They keep their hashes, and a later row commits to their new content.
   */
  redacted: number
}

/** Number of rows read at once. */
const PAGE = 1000

/** Verifies the chain of a domain from its beginning, and stops at the first row that does not match. */
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
  // Count these first: an entry that is chained during the walk is counted among the rows.
  const waiting = await countWaiting(db, domainId)
  let erased = 0
  let redacted = 0
  /** Batch -> first row that it changed. */
  const changedBy = new Map<string, LogRow>()
  const toldOf = new Map<string, string>()
  const verdict = (broken: LogRow | null): Verification => ({
    ...{ rows, removed, head, broken, found, waiting, erased, redacted },
  })
  for (;;) {
    const page: LogRow[] = await db
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
    const judged = await judge(db, head, page)
    for (const row of page) {
      const batch = judged.redacted.get(row.eventHash)
      const fits = !judged.odd.has(row.id) || batch !== undefined
      if (!fits || values.wrong.has(row.id)) {
        // The oldest entries were removed during the walk.
        if (rows === 0 && (await checkpointOf(db, domainId)).eventHash !== begin.eventHash)
          return verifyActivity(db, domainId, options)
        return verdict(row)
      }
      if (batch !== undefined) {
        redacted += 1
        if (!changedBy.has(batch)) changedBy.set(batch, row)
      } else if (row.eventType === LOG_REDACTED_EVENT)
        toldOf.set(String(row.metadata['batch']), String(row.metadata['digest']))
      head = row.eventHash
      last = row.id
      rows += 1
      if (head === find) found = true
    }
    erased += values.erased
    onRows(rows)
    if (page.length < PAGE) break
  }
  const [wrong] = await unrecorded(db, [...changedBy.keys()], toldOf, last ?? 0n)
  return verdict(wrong === undefined ? null : (changedBy.get(wrong) ?? null))
}

/** Finds the rows that do not match their hashes, and those of them that were redacted. */
async function judge(
  db: Db,
  before: string,
  rows: readonly LogRow[],
): Promise<{ odd: ReadonlySet<bigint>; redacted: Redacted }> {
  const odd = await inSlices(oddOf(before, rows))
  return { odd: new Set(odd.map(({ id }) => id)), redacted: await redactedIn(db, odd) }
}

/** Finds the rows whose hash does not cover their content and the previous hash. */
function* oddOf(before: string, rows: readonly LogRow[]): Steps<LogRow[]> {
  const odd: LogRow[] = []
  let head = before
  for (const [at, row] of rows.entries()) {
    if (hashOf(head, row) !== row.eventHash) odd.push(row)
    head = row.eventHash
    if (at % AT_A_TIME === 0) yield
  }
  return odd
}

/** Number of hashes between two checks of the clock: some tenths of a millisecond. */
const AT_A_TIME = 16

/** Number of entries that `verifyNewest` verifies. */
const NEWEST = 1000

/** Verifies that the newest entries match each other. The entry before them is trusted. */
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
  const { odd, redacted } = await judge(db, head, rows.slice(1))
  for (const row of rows.slice(1)) {
    if ((odd.has(row.id) && !redacted.has(row.eventHash)) || wrong.has(row.id)) {
      const broken = { event_type: row.eventType, event_began_at: row.beganAt.toISOString() }
      return { checked, waiting, head, broken }
    }
    head = row.eventHash
    checked += 1
  }
  return { checked, waiting, head, broken: null }
}

/** Finds the rows with a personal value that does not match its commitment, and counts the erased values. */
async function checkValues(db: Db, rows: readonly LogRow[]) {
  const kept = await personalValuesOf(db, rows)
  const wrongValues = await inSlices(wrongOf(kept))
  const wrong =
    wrongValues.size === 0
      ? []
      : rows.filter((row) => commitmentsIn([row]).some((one) => wrongValues.has(one)))
  return {
    wrong: new Set(wrong.map(({ id }) => id)),
    erased: commitmentsIn(rows).length - kept.length,
  }
}

/** Finds the commitments whose value does not match. */
function* wrongOf(kept: readonly PersonalValue[]): Steps<Set<string>> {
  const wrong = new Set<string>()
  for (const [at, { commitment, salt, value }] of kept.entries()) {
    if (commitment !== commitmentOf(salt, value)) wrong.add(commitment)
    if (at % AT_A_TIME === 0) yield
  }
  return wrong
}

/** Reads the beginning of the chain: the last of the removed entries. */
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
