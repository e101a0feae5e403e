/** Part of the activity log that proves the content of evidence: entries with their links to the chain. */

import { and, asc, eq, gte, inArray, notInArray, type SQL, sql } from 'drizzle-orm'
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { Db } from '../../../database/database.ts'
import { activityCheckpoints, activityLogs } from '../../../database/schema/audit.ts'
import { BEGINNING, bodyOf, hashOf } from '../../kernel/audit/entry-hash.ts'
import { PROVED, redactedIn } from '../../kernel/audit/redacted.ts'

/** Subjects of the entries, and their creation time. */
type Logged = { domainId: string; ids: readonly string[]; createdAt: Date }

/** Frequent automatic events of a policy. Other entries contain the decisions of people. */
const ROUTINE: ActivityEvent[] = ['ACCESS_POLICY_EVALUATED']

/** Number of entries read at once. */
const PAGE = 250

/** Returns the head of the log's chain, and whether its oldest entries were removed. */
export async function chainHeadOf(
  tx: Db,
  { domainId }: Pick<Logged, 'domainId'>,
): Promise<{ head: string; removed: number; kept_from: string | null }> {
  const { id, eventHash, beganAt } = activityLogs
  const own = eq(activityLogs.domainId, domainId)
  const [newest] = await tx
    .select({ eventHash })
    .from(activityLogs)
    .where(own)
    .orderBy(sql`${id} desc`)
    .limit(1)
  const [oldest] = await tx
    .select({ beganAt })
    .from(activityLogs)
    .where(own)
    .orderBy(asc(id))
    .limit(1)
  const removed = await checkpointOf(tx, domainId)
  return {
    head: newest?.eventHash ?? removed.eventHash,
    removed: removed.rows,
    kept_from: removed.rows === 0 ? null : (oldest?.beganAt.toISOString() ?? null),
  }
}

async function checkpointOf(tx: Db, domainId: string) {
  const { eventHash, rows } = activityCheckpoints
  const [found] = await tx
    .select({ eventHash, rows })
    .from(activityCheckpoints)
    .where(eq(activityCheckpoints.domainId, domainId))
  return found ?? { eventHash: BEGINNING, rows: 0 }
}

/** Returns the entries about some subjects: chained ones in their order, then those not chained yet. */
export async function* logLines(tx: Db, subject: Logged): AsyncGenerator<Record<string, unknown>> {
  const { domainId } = subject
  const start = await checkpointOf(tx, domainId)
  const about = sql`${sql.param(subject.ids.map((id) => JSON.stringify([{ id }])))}::jsonb[]`
  const found = await entriesAbout(tx, subject, about)
  for (let at = 0; at < found.length; at += PAGE) {
    const page = await tx
      .select(PROVED)
      .from(activityLogs)
      .where(inArray(activityLogs.id, found.slice(at, at + PAGE)))
      .orderBy(asc(activityLogs.id))
    const odd = page.filter(
      ({ row, before }) => hashOf(before ?? start.eventHash, row) !== row.eventHash,
    )
    const redacted = await redactedIn(
      tx,
      odd.map(({ row }) => row),
    )
    for (const { row, before } of page)
      yield {
        ...{ before: before ?? start.eventHash, body: bodyOf(row) },
        ...{ began_at: row.beganAt.toISOString(), hash: row.eventHash },
        redacted: redacted.has(row.eventHash),
      }
  }
  const { rows } = await tx.execute<{ body: string; began_at: string }>(sql`
    select body, began_at from activity_waiting
    where domain_id = ${domainId} and ('[' || body || ']')::jsonb -> 4 @> any(${about}) order by id`)
  for (const { body, began_at } of rows)
    yield {
      before: null,
      body,
      began_at: new Date(began_at).toISOString(),
      hash: null,
      redacted: false,
    }
}

/** Returns the ids of chained entries, in order. Searches each subject separately, as the index requires. */
async function entriesAbout(tx: Db, subject: Logged, about: SQL): Promise<bigint[]> {
  const { id, domainId, targets, eventType } = activityLogs
  const { rows } = await tx.execute<{ id: string }>(sql`
    select distinct l.id from unnest(${about}) one cross join lateral (
      select ${id} from ${activityLogs}
      where ${domainId} = ${subject.domainId} and ${targets} @> one and ${notInArray(eventType, ROUTINE)}) l
    where l.id > ${await firstOf(tx, subject)} order by l.id`)
  return rows.map((row) => BigInt(row.id))
}

/** Returns the id of an entry before the subject's creation, so that years of the log are not searched. */
async function firstOf(tx: Db, { domainId, createdAt }: Logged): Promise<bigint> {
  const { id, beganAt } = activityLogs
  const hour = 3_600_000
  const [row] = await tx
    .select({ id })
    .from(activityLogs)
    .where(
      and(eq(activityLogs.domainId, domainId), gte(beganAt, new Date(createdAt.getTime() - hour))),
    )
    .orderBy(asc(beganAt), asc(id))
    .limit(1)
  return (row?.id ?? 1n) - 1n
}
