/**
 * The tables of background jobs. pg-boss keeps them in a schema of its own. The owner of Keyway's tables
 * migrates both; hosts use them as the role with fewer rights.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Client } from 'pg'
import { PgBoss } from 'pg-boss'
import type { Database, Db } from './database.ts'
import { connectionOf } from './prepared.ts'
import { createSharedLooks } from './shared-looks.ts'

/** Schema of the job tables. */
export const JOBS_SCHEMA = 'jobs'

/** At most one job per key waits or runs. */
export const POLICY = 'exclusive'

/** Migrates the job tables. Called while no other host migrates. */
export async function prepareJobs(client: Client): Promise<void> {
  const boss = new PgBoss({
    schema: JOBS_SCHEMA,
    db: { executeSql: (text, values) => client.query(text, values) },
    supervise: false,
    schedule: false,
  })
  const faults: Error[] = []
  boss.on('error', (error) => faults.push(error))
  await boss.start()
  await boss.stop({ graceful: false })
  const [fault] = faults
  if (fault) throw fault
}

/** Opens the jobs of a database, not started. */
export function openJobs({ db, listen }: Pick<Database, 'db' | 'listen'>): PgBoss {
  const { executeSql } = inTransaction(db)
  const looks = createSharedLooks(executeSql)
  return new PgBoss({
    schema: JOBS_SCHEMA,
    db: {
      executeSql: looks.ask,
      async listen(channel, onNotification, onReconnect) {
        const end = listen(channel, (said) => {
          looks.changed()
          if (said === null) onReconnect()
          else onNotification(said)
        })
        return { close: end }
      },
    },
    // Both require the owner's rights.
    migrate: false,
    createSchema: false,
    reindex: false,
    useListenNotify: true,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    schedule: false,
  })
}

/** Interval of the search for jobs whose host has ended, in seconds. */
const SUPERVISE_SECONDS = 10

/**
 * Maximum number of named statements of pg-boss: per queue, its query for a job and the statements that
 * create and end one.
 */
const MAX_NAMED = 100
const names = new Map<string, string>()

/**
 * Returns a name for a statement that is sent repeatedly, with other values or none. Undefined for other
 * statements.
 */
function nameOf(text: string): string | undefined {
  if (!/^\s*with\b/i.test(text)) return undefined
  const known = names.get(text)
  if (known !== undefined || names.size >= MAX_NAMED) return known
  const name = `job ${names.size}`
  names.set(text, name)
  return name
}

/**
 * Sends the statements of pg-boss, in a transaction or outside of one. Statements that are sent for each job
 * are prepared.
 */
export const inTransaction = (tx: Db) => ({
  async executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    const name = nameOf(text)
    const query = { text, ...(name === undefined ? {} : { name }), ...(values ? { values } : {}) }
    const result: { rows: unknown[] } | { rows: unknown[] }[] = await connectionOf(tx).query(query)
    return Array.isArray(result) ? { rows: result.flatMap(({ rows }) => rows) } : result
  },
})

const JOB = sql`${sql.identifier(JOBS_SCHEMA)}.job`

/** Condition: no job of a key waits, not even for a retry, or runs. Answered from an index of pg-boss. */
export const hasNoJob = (queue: string, key: SQL): SQL => sql`not exists (
  select from ${JOB}
  where name = ${queue} and policy = ${POLICY} and state <= 'active' and coalesce(singleton_key, '') = ${key})`

/** Reports whether any job of a queue was created within the last `seconds`, whatever its state. */
export async function hasRecentJob(db: Db, queue: string, seconds: number): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from ${JOB}
    where name = ${queue} and created_on > now() - make_interval(secs => ${seconds}) limit 1`)
  return rows.length > 0
}

/**
 * Returns jobs of some queues that began more than `seconds` ago and have not ended. The longest waiting ones
 * come first.
 */
export async function startedJobs<Name extends string>(
  db: Db,
  queues: readonly Name[],
  seconds: number,
): Promise<{ queue: Name; key: string }[]> {
  const { rows } = await db.execute<{ queue: Name; key: string }>(sql`
    select name as queue, singleton_key as key from ${JOB}
    where name = any(${sql.param(queues)}::text[]) and policy = ${POLICY} and state <= 'active' and state = 'active'
      and started_on < now() - make_interval(secs => ${seconds})
    order by started_on`)
  return rows
}

/** Time in the future that no clock of a job reaches, in seconds: the longest pause is five minutes. */
const IMPOSSIBLE_SECONDS = 3600

/**
 * Moves times that are too far in the future to now. They were written before the clock of the database was
 * set back. Until then their jobs would wait, or count as running on a host that has died, and keep other jobs
 * of their keys out.
 */
export async function catchUpClock(db: Db): Promise<void> {
  const isOdd = (column: SQL) =>
    sql`${column} > now() + make_interval(secs => ${IMPOSSIBLE_SECONDS})`
  const corrected = (names: readonly string[]) => {
    const columns = names.map((name) => sql.identifier(name))
    return {
      set: sql.join(
        columns.map(
          (one) => sql`${one} = case when ${isOdd(sql`${one}`)} then now() else ${one} end`,
        ),
        sql`, `,
      ),
      odd: sql.join(
        columns.map((one) => isOdd(sql`${one}`)),
        sql` or `,
      ),
    }
  }
  const job = corrected(['start_after', 'started_on', 'heartbeat_on'])
  await db.execute(sql`update ${JOB} set ${job.set} where state <= 'active' and (${job.odd})`)
  const queue = corrected(['monitor_claim_on', 'monitor_on', 'maintain_on'])
  const queues = sql`${sql.identifier(JOBS_SCHEMA)}.queue`
  await db.execute(sql`update ${queues} set ${queue.set} where ${queue.odd}`)
}
