/**
 * Redaction of entries that name a person in clear: entries of older versions, and free text in which a
 * person wrote a name. Erasing a person takes the names out. Each entry keeps its hash, so that the chain
 * still matches hashes noted elsewhere. A later LOG_REDACTED entry, with one digest of all entries of a
 * batch, ties their new content to the chain.
 */
import { randomUUID } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { conflict } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import { activityLogs, type LogRow } from '../../../database/schema/audit.ts'
import { BEGINNING, hashOf } from './entry-hash.ts'
import { isThere } from './unchained-entries.ts'

/** Type of the entry that a batch leaves in the chain. */
export const LOG_REDACTED_EVENT = 'LOG_REDACTED'

/** Columns that prove an entry: the entry itself, and the hash of the previous one. */
export const PROVED = {
  row: activityLogs,
  before: sql<string | null>`(select p.event_hash from activity_logs p
    where p.domain_id = activity_logs.domain_id and p.id < activity_logs.id order by p.id desc limit 1)`,
}

/** Number of entries that are verified at once before they are changed. */
const PAGE = 500

/**
 * Hash of a redacted entry -> the last batch that changed it. Only entries that match their digest are
 * listed.
 */
export type Redacted = ReadonlyMap<string, string>

/** Finds the entries whose content is as their last batch left it. */
export async function redactedIn(db: Db, rows: readonly LogRow[]): Promise<Redacted> {
  if (rows.length === 0 || !(await isThere(db, 'activity_redactions'))) return new Map()
  const ids = rows.map(({ id }) => String(id))
  const { rows: found } = await db.execute<{ hash: string; batch: string }>(sql`
    select l.event_hash as hash, last.batch from activity_logs l
    cross join lateral (select r.batch, r.digest from activity_redactions r
      where r.event_hash = l.event_hash and r.domain_id = l.domain_id order by r.id desc limit 1) last
    where l.id = any(${sql.param(ids)}::bigint[]) and last.digest = encode(sha256(convert_to(
      jsonb_build_array(l.actor, l.targets, l.event_metadata)::text, 'UTF8')), 'hex')`)
  return new Map(found.map(({ hash, batch }) => [hash, batch]))
}

/**
 * Returns the batches that the chain does not record.
 *
 * @param told batch -> its digest, from the entries of the chain up to `last`
 */
export async function unrecorded(
  db: Db,
  batches: readonly string[],
  told: ReadonlyMap<string, string>,
  last: bigint,
): Promise<Set<string>> {
  if (batches.length === 0) return new Set()
  const { rows } = await db.execute<{ batch: string; listed: string; waits: string | null }>(sql`
    select batch, encode(sha256(convert_to(string_agg(event_hash || ' ' || digest, e'\n'
        order by event_hash collate "C"), 'UTF8')), 'hex') as listed,
      (select later.metadata ->> 'digest' from (
          select event_metadata as metadata from activity_logs where id > ${last} and event_type = ${LOG_REDACTED_EVENT}
          union all select ('[' || body || ']')::jsonb -> 5 from activity_waiting
            where ('[' || body || ']')::jsonb ->> 1 = ${LOG_REDACTED_EVENT}) later
        where later.metadata ->> 'batch' = activity_redactions.batch::text limit 1) as waits
    from activity_redactions where batch = any(${sql.param([...batches])}::uuid[]) group by batch`)
  // A batch whose entry is not yet chained, or was chained during the walk, is unproven but not wrong.
  const proven = rows.filter(({ batch, listed, waits }) => (told.get(batch) ?? waits) === listed)
  const known = new Set(proven.map(({ batch }) => batch))
  return new Set(batches.filter((one) => !known.has(one)))
}

/**
 * Takes names out of the entries that a condition selects. Returns the number of entries.
 *
 * @param names PostgreSQL regular expressions; the first group of each matches the text before a name
 * @throws CoreError `conflict` for an entry that already does not match the chain: the evidence of that
 * change must be preserved
 */
export async function redactEntries(
  tx: Db,
  domainId: string,
  names: readonly string[],
  which: SQL,
): Promise<number> {
  const ids: string[] = []
  let last = 0n
  for (;;) {
    const page = await tx
      .select(PROVED)
      .from(activityLogs)
      .where(
        sql`${activityLogs.domainId} = ${domainId} and ${activityLogs.id} > ${last} and ${which}`,
      )
      .orderBy(activityLogs.id)
      .limit(PAGE)
    await requireFitting(tx, domainId, page)
    ids.push(...page.map(({ row }) => String(row.id)))
    last = page.at(-1)?.row.id ?? last
    if (page.length < PAGE) break
  }
  if (ids.length === 0) return 0
  const { rows } = await tx.execute<{ count: number }>(sql`
    select redact_activity(${domainId}::uuid, ${randomUUID()}::uuid, ${sql.param(ids)}::bigint[],
      ${sql.param([...names])}::text[]) as count`)
  return rows[0]?.count ?? 0
}

type Placed = { row: LogRow; before: string | null }

async function requireFitting(tx: Db, domainId: string, page: readonly Placed[]): Promise<void> {
  const first = await firstBefore(tx, domainId)
  const odd = page.filter(({ row, before }) => hashOf(before ?? first, row) !== row.eventHash)
  const redacted = await redactedIn(
    tx,
    odd.map(({ row }) => row),
  )
  const wrong = odd.find(({ row }) => !redacted.has(row.eventHash))
  if (wrong)
    throw conflict(
      `An entry of the activity log that names the person (${wrong.row.eventType}, ${wrong.row.beganAt.toISOString()}) is not what was originally written: see keyway audit verify`,
    )
}

/** Returns the hash that precedes the first remaining entry. */
async function firstBefore(tx: Db, domainId: string): Promise<string> {
  const { rows } = await tx.execute<{ hash: string }>(
    sql`select event_hash as hash from activity_checkpoints where domain_id = ${domainId}`,
  )
  return rows[0]?.hash ?? BEGINNING
}
