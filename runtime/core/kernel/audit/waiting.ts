/**
 * Entries of the log between their commit and their place in the chain. Writers leave them without waiting for each
 * other; who chains them holds a lock, on any host, and moves them in one transaction: a host that is killed leaves them
 * chained or waiting. An entry gets its place when it is chained, so one that commits late is never passed over.
 */
import { sql } from 'drizzle-orm'
import { isAway } from '../../../database/away.ts'
import type { Database, Db } from '../../../database/database.ts'
import { lockNumber } from '../../../database/locks.ts'
import { activityWaiting } from '../../../database/schema/audit.ts'

/** Most entries that one transaction chains. */
const AT_ONCE = 1000
/** Most such transactions for one reader: it waits for what was committed before it, not for what comes meanwhile. */
const MOST_ROUNDS = 100
/** How often a host looks for waiting entries, in milliseconds. */
const EVERY_MS = 250

/** Chains the oldest; answers how many. Without `patient` none, where another is at it. */
async function chainSome(db: Db, domainId: string, patient: boolean): Promise<number> {
  const { rows } = await db.execute<{ chained: number }>(sql`
    select chain_activity(${domainId}::uuid, ${AT_ONCE}, ${lockNumber('chaining the log')}, ${patient}) as chained`)
  return rows[0]?.chained ?? 0
}

/**
 * Chains all entries that were committed before: what readers of the log do first. Not to be called in a transaction
 * that goes on, which would keep others from chaining. Where the database only reads, or its disk is full, nothing is
 * chained, and the log is read as it is.
 */
export async function chainWaiting(db: Db, domainId: string): Promise<void> {
  try {
    for (let round = 0; round < MOST_ROUNDS; round += 1)
      if ((await chainSome(db, domainId, true)) < AT_ONCE) return
  } catch (error) {
    if (!isAway(error)) throw error
  }
}

/** Whether a table of the log is there; in a database that no host of this version has opened it is not. */
export async function isThere(db: Db, table: string): Promise<boolean> {
  const { rows } = await db.execute<{ there: boolean }>(
    sql`select to_regclass(${`public.${table}`}) is not null as there`,
  )
  return rows[0]?.there ?? false
}

/** How many entries wait. */
export async function countWaiting(db: Db, domainId: string): Promise<number> {
  if (!(await isThere(db, 'activity_waiting'))) return 0
  return db.$count(activityWaiting, sql`${activityWaiting.domainId} = ${domainId}`)
}

/** Whether an event was ever recorded, chained or not. */
export async function wasRecorded(db: Db, domainId: string, eventType: string): Promise<boolean> {
  const { rows } = await db.execute<{ was: boolean }>(sql`
    select exists (select from activity_logs where domain_id = ${domainId} and event_type = ${eventType})
      or exists (select from activity_waiting
        where domain_id = ${domainId} and ('[' || body || ']')::jsonb ->> 1 = ${eventType}) as was`)
  return rows[0]?.was ?? false
}

/** The number of the last chained entry, as text; `0` where there is none. */
export async function lastChained(db: Db, domainId: string): Promise<string> {
  const { rows } = await db.execute<{ last: string }>(sql`
    select coalesce(max(id), 0)::text as last from activity_logs where domain_id = ${domainId}`)
  return rows[0]?.last ?? '0'
}

/** Whether an entry with this `entry_id` is chained behind a number, or waits to be. In one query, since entries move. */
export async function isRecorded(
  db: Db,
  domainId: string,
  entryId: string,
  behind: string,
): Promise<boolean> {
  const { rows } = await db.execute<{ was: boolean }>(sql`
    select exists (select from activity_logs where domain_id = ${domainId} and id > ${behind}::bigint
        and event_metadata ->> 'entry_id' = ${entryId})
      or exists (select from activity_waiting
        where domain_id = ${domainId} and ('[' || body || ']')::jsonb -> 5 ->> 'entry_id' = ${entryId}) as was`)
  return rows[0]?.was ?? false
}

type Chaining = {
  /** Called with each database that was reached. */
  start(database: Pick<Database, 'db' | 'domainId'>): void
  /** Waits for what is being chained. */
  stop(): Promise<void>
}

/** Chains what waits, again and again. `onError` hears what keeps it from that. */
export function createChaining(onError: (error: unknown) => void): Chaining {
  let timer: NodeJS.Timeout | null = null
  let chaining: Promise<void> = Promise.resolve()
  let stopped = false

  function look(database: Pick<Database, 'db' | 'domainId'>, afterMs: number): void {
    if (stopped) return
    timer = setTimeout(() => {
      chaining = chainSome(database.db, database.domainId, false)
        .catch((error) => {
          onError(error)
          return 0
        })
        .then((chained) => look(database, chained < AT_ONCE ? EVERY_MS : 0))
    }, afterMs)
    timer.unref()
  }

  return {
    start(database) {
      if (timer) clearTimeout(timer)
      look(database, 0)
    },
    async stop() {
      stopped = true
      if (timer) clearTimeout(timer)
      await chaining
    },
  }
}
