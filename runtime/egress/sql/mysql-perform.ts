/** Carries out one judged request on one connection to MySQL or MariaDB. */
import { randomUUID } from 'node:crypto'
import { SQL_LIMITS, type StatementStep, stepsOf } from '../../contract/connector/sql.ts'
import type { SqlPage, SqlRow } from '../../contract/connector/sql-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import type { Lease as Leased, Parked } from '../wire/pool.ts'
import { duplicateColumn } from './columns.ts'
import { type ParkedResult, readCursor, staleCursor, textAsked, writeCursor } from './cursor.ts'
import type { MysqlConnection } from './mysql-connect.ts'
import { type Prepared, prepare } from './mysql-text.ts'
import { type MysqlColumn, toRow } from './mysql-values.ts'
import type { JudgedSql } from './perform.ts'
import { judgedStatement, tooManyRows, writeText } from './quote.ts'

type Lease = Leased<MysqlConnection>

/**
 * Carries a request out. A query runs in a session that only reads, so that a statement that was declared to read and
 * does not is refused by the server. What it leaves in the session is for `resetMysql`.
 *
 * @returns a page for a query, what each statement touched otherwise
 * @throws what the library throws; egress_url and others for what the request itself is
 */
export async function performMysql(
  { request, target }: JudgedSql,
  lease: Lease,
  leftMs: number,
): Promise<SqlPage | { touched: number[] }> {
  const { connection } = lease
  if (request.operation === 'query' && request.page?.cursor)
    return goOn(request.page.cursor, request.page.size, lease, textAsked(request, target))
  const isRead = request.operation === 'query'
  const steps = await Promise.all(stepsOf(request).map((step) => written(step, target)))
  await settle(connection, isRead, leftMs)
  if (request.operation === 'query') {
    const [step] = steps
    if (step === undefined) throw new RuntimeError('internal', 'a query without a statement')
    const result = { id: randomUUID(), given: 0, text: textAsked(request, target) }
    if (request.page) return pageOf(begin(connection, step), request.page.size, lease, result)
    const { rows, isTable } = await run(connection, step)
    if (!isTable) throw noTable(request.statement)
    if (rows.length <= SQL_LIMITS.maxRows) return { rows, cursor: null }
    throw tooManyRows(request.statement)
  }
  const touched: number[] = []
  if (steps.length > 1) await run(connection, plain('START TRANSACTION'))
  // What they answer is not read: without their names, no columns are judged.
  for (const { text, values } of steps) {
    const done = await run(connection, { text, values })
    // Behind the rows of `RETURNING` the server tells no number.
    touched.push(done.isCounted ? done.touched : done.rows.length)
  }
  if (steps.length > 1) await run(connection, plain('COMMIT'))
  return { touched }
}

/** A query that was answered as a change is: that is no empty result. */
const noTable = (statement: string): RuntimeError =>
  new RuntimeError('upstream_garbled', `The statement ${statement} was answered without columns`)

const plain = (text: string): Prepared => ({ text, values: [] })

async function written(
  { statement, parameters, names }: StatementStep,
  target: SqlTarget,
): Promise<Prepared> {
  const declared = judgedStatement(statement, parameters, target)
  const { text, values } = prepare(declared, parameters)
  return { statement, text: await writeText(statement, { text }, names, target.dialect), values }
}

const MODE = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION'
/** Without it, GRANT makes a user of a name that is nobody's, and gives it no password. */
const MODE_OF_OLD = `${MODE},NO_AUTO_CREATE_USER`

/** How texts are read and values are written, whatever the server's own defaults are. */
const SETTINGS = [
  "time_zone = '+00:00'",
  'autocommit = 1',
  'character_set_client = utf8mb4',
  'character_set_results = utf8mb4',
  'collation_connection = utf8mb4_general_ci',
]

/** Settles the session: whether it only reads, and that the server ends what nobody waits for any more. */
async function settle(connection: MysqlConnection, reads: boolean, leftMs: number): Promise<void> {
  // MariaDB counts in whole seconds; the call itself ends by its own deadline.
  const limitSeconds = Math.max(1, Math.ceil(leftMs / 1000))
  const own = connection.isMariadb
    ? [
        `sql_mode = '${MODE_OF_OLD}'`,
        `tx_read_only = ${Number(reads)}`,
        `max_statement_time = ${limitSeconds}`,
      ]
    : [
        // MySQL 8 makes nobody by GRANT, and does not know that mode.
        `sql_mode = if(version() like '5.%', '${MODE_OF_OLD}', '${MODE}')`,
        `transaction_read_only = ${Number(reads)}`,
        `max_execution_time = ${limitSeconds * 1000}`,
      ]
  const all = [...SETTINGS, ...own].map((one) => `SESSION ${one}`)
  await run(connection, plain(`SET ${all.join(', ')}`))
}

/**
 * Resets a session: an open transaction, settings, roles, locks, temporary tables, variables, prepared statements. If the
 * server does not do that, the connection is closed. Never rejects.
 */
export function resetMysql({ client, guard }: MysqlConnection): Promise<void> {
  return new Promise((resolve) => {
    const failed = () => {
      guard.end()
      resolve()
    }
    guard.socket.once('close', failed)
    client.reset((error) => {
      guard.socket.off('close', failed)
      if (error === null) resolve()
      else failed()
    })
  })
}

/** What one statement gave. */
type Done = {
  rows: SqlRow[]
  touched: number
  /** Whether the server told `touched`. */
  isCounted: boolean
  isTable: boolean
  isAtEnd: boolean
}

/** A statement that runs: gives so many rows at once. */
type Reading = { next(size: number): Promise<Done> }

const run = (connection: MysqlConnection, sent: Prepared): Promise<Done> =>
  begin(connection, sent).next(Number.POSITIVE_INFINITY)

function begin({ client, guard }: MysqlConnection, { statement, text, values }: Prepared): Reading {
  const done: Done = { rows: [], touched: 0, isCounted: false, isTable: false, isAtEnd: false }
  let failure: unknown = null
  let read: ((values: readonly unknown[]) => SqlRow) | null = null
  let most = 0
  let settled: (() => void) | null = null
  const settle = () => settled?.()
  const fail = (error: unknown) => {
    failure ??= error
    end()
  }
  const lost = () => fail(new Error('the connection has ended'))
  const end = () => {
    done.isAtEnd = true
    guard.socket.off('close', lost)
    client.off('error', fail)
    settle()
  }
  guard.socket.on('close', lost)
  client.on('error', fail)
  // A declared query is prepared, also one without parameters: a server writes fewer digits and other times as text.
  const isText = values.length === 0 && statement === undefined
  // The cast: values are checked by their declared types, and the library's type of them is narrower than its code.
  const command = isText
    ? client.query({ sql: text, rowsAsArray: true })
    : client.execute({ sql: text, rowsAsArray: true, values: values as string[] })
  command
    .on('fields', (fields: readonly MysqlColumn[] | undefined) => {
      if (fields === undefined) return
      const fault = statement === undefined ? null : duplicateColumn(statement, fields)
      if (fault !== null) return fail(fault)
      read = toRow(fields)
      done.isTable = true
    })
    .on('result', (found: unknown) => {
      if (!Array.isArray(found)) {
        done.touched = Number(Object(found).affectedRows ?? 0)
        done.isCounted = true
        return
      }
      if (read !== null) done.rows.push(read(found))
      if (done.rows.length < most) return
      client.pause()
      settle()
    })
    .on('error', fail)
    .on('end', end)
  return {
    async next(size) {
      most = size
      if (!done.isAtEnd && failure === null)
        await new Promise<void>((resolve) => {
          settled = resolve
          client.resume()
        })
      settled = null
      if (failure !== null) throw failure
      const rows = done.rows.splice(0, size)
      return { ...done, rows }
    },
  }
}

/** A result that goes on: it waits on its connection, of which nothing is read meanwhile. */
type ParkedReading = ParkedResult & { reading: Reading }

const isParkedReading = (parked: Parked | null): parked is ParkedReading =>
  parked !== null && 'reading' in parked

/** @throws database_refused, as an invalid cursor, where the result is not there any more */
async function goOn(cursor: string, size: number, lease: Lease, text: string): Promise<SqlPage> {
  const { id, given } = readCursor(cursor)
  const { parked } = lease
  if (
    !isParkedReading(parked) ||
    parked.id !== id ||
    parked.given !== given ||
    parked.text !== text
  )
    throw staleCursor()
  lease.parked = null
  return pageOf(parked.reading, size, lease, parked)
}

async function pageOf(
  reading: Reading,
  size: number,
  lease: Lease,
  { id, given, text }: ParkedResult,
): Promise<SqlPage> {
  const { rows, isAtEnd } = await reading.next(size)
  if (isAtEnd) return { rows, cursor: null }
  const parked: ParkedReading = { id, given: given + rows.length, text, reading }
  lease.parked = parked
  return { rows, cursor: writeCursor(parked) }
}

/** @throws where a result waits on a connection that has refused: only its end would make it fit for the next request */
export async function mendMysql({ parked }: Lease): Promise<void> {
  if (parked !== null) throw new RuntimeError('upstream_closed', 'a result was left unread')
}

/** Ends on the server what runs on another connection. */
export const killMysql = (on: MysqlConnection, threadId: number): Promise<unknown> =>
  run(on, plain(`KILL QUERY ${Math.trunc(threadId)}`))
