/**
 * Log entries between their commit and their place in the chain. Writers leave them without waiting for each
 * other. One host at a time, under a lock, chains them in one transaction: if it is killed, each is either
 * chained or waiting. An entry gets its number when it is chained, so one that commits late is never skipped.
 */

import { sql } from 'drizzle-orm'
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { Database, Db } from '../../../database/database.ts'
import { lockNumber } from '../../../database/locks.ts'
import { activityWaiting } from '../../../database/schema/audit.ts'
import { isDatabaseUnavailable } from '../../../database/unavailable.ts'

/** Maximum number of entries that one transaction chains. */
const AT_ONCE = 1000
/**
 * Maximum number of such transactions for one reader: it waits for entries committed before it, not for new
 * ones.
 */
const MAX_ROUNDS = 100
/** Interval at which a host looks for waiting entries, in milliseconds. */
const EVERY_MS = 250

/**
 * Chains the oldest entries, and returns their number. Unless `patient`, chains none while another host does.
 */
async function chainSome(db: Db, domainId: string, patient: boolean): Promise<number> {
  const { rows } = await db.execute<{ chained: number }>(sql`
    select chain_activity(${domainId}::uuid, ${AT_ONCE}, ${lockNumber('chaining the log')}, ${patient}) as chained`)
  return rows[0]?.chained ?? 0
}

/**
 * Chains all entries that were committed before the call. Readers of the log call it first. Do not call it in
 * a transaction that goes on: it would keep others from chaining. If the database is read-only or its disk is
 * full, nothing is chained and the log is read as it is.
 */
export async function chainWaiting(db: Db, domainId: string): Promise<void> {
  try {
    for (let round = 0; round < MAX_ROUNDS; round += 1)
      if ((await chainSome(db, domainId, true)) < AT_ONCE) return
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
  }
}

/**
 * Reports whether a table of the log exists. It does not in a database that no host of this version has
 * opened.
 */
export async function isThere(db: Db, table: string): Promise<boolean> {
  const { rows } = await db.execute<{ there: boolean }>(
    sql`select to_regclass(${`public.${table}`}) is not null as there`,
  )
  return rows[0]?.there ?? false
}

/** Counts the waiting entries. */
export async function countWaiting(db: Db, domainId: string): Promise<number> {
  if (!(await isThere(db, 'activity_waiting'))) return 0
  return db.$count(activityWaiting, sql`${activityWaiting.domainId} = ${domainId}`)
}

/** Reports whether an event was ever recorded, chained or not. */
export async function wasRecorded(
  db: Db,
  domainId: string,
  eventType: ActivityEvent,
): Promise<boolean> {
  const { rows } = await db.execute<{ was: boolean }>(sql`
    select exists (select from activity_logs where domain_id = ${domainId} and event_type = ${eventType})
      or exists (select from activity_waiting
        where domain_id = ${domainId} and ('[' || body || ']')::jsonb ->> 1 = ${eventType}) as was`)
  return rows[0]?.was ?? false
}

/** Returns the number of the last chained entry as text, or `0` if there is none. */
export async function lastChained(db: Db, domainId: string): Promise<string> {
  const { rows } = await db.execute<{ last: string }>(sql`
    select coalesce(max(id), 0)::text as last from activity_logs where domain_id = ${domainId}`)
  return rows[0]?.last ?? '0'
}

/**
 * Reports whether an entry with this `entry_id` is waiting, or chained after the number `behind`. It is one
 * query, because entries move.
 */
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
  /** Starts on a database. Called for each one that the host connects to. */
  start(database: Pick<Database, 'db' | 'domainId'>): void
  /** Waits for chaining that is under way. */
  stop(): Promise<void>
}

/**
 * Creates the loop that chains waiting entries. `onError` is called with errors that keep it from doing so.
 */
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
