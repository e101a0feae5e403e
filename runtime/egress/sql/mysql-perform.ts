/** Performs one judged request on one connection to MySQL or MariaDB. */
import { randomUUID } from 'node:crypto'
import { SQL_LIMITS, type StatementStep, stepsOf } from '../../contract/connector/sql.ts'
import type { SqlPage, SqlRow } from '../../contract/connector/sql-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import type { Lease as Leased, Parked } from '../wire/pool.ts'
import { duplicateColumn } from './columns.ts'
import { type ParkedResult, readCursor, staleCursor, textAsked, writeCursor } from './cursor.ts'
import { tooManyRows } from './failures.ts'
import type { MysqlConnection } from './mysql-connect.ts'
import { type Prepared, prepare } from './mysql-text.ts'
import { type MysqlColumn, toRow } from './mysql-values.ts'
import type { JudgedSql } from './perform.ts'
import { judgedStatement, writeText } from './quote.ts'

type Lease = Leased<MysqlConnection>

/**
 * Performs a request. A query runs in a read-only session, so that the server refuses a statement that is
 * declared to read but writes. `resetMysql` removes the state that it leaves in the session.
 *
 * @returns a page for a query, else the number of rows that each statement touched
 * @throws the errors of the library; egress_url and others for faults of the request itself
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
  // Rows that these statements return are not read. Without a statement's name, columns are not checked.
  for (const { text, values } of steps) {
    const done = await run(connection, { text, values })
    // After the rows of `RETURNING`, the server sends no count.
    touched.push(done.isCounted ? done.touched : done.rows.length)
  }
  if (steps.length > 1) await run(connection, plain('COMMIT'))
  return { touched }
}

/** Error for a query that was answered like a write. That is not an empty result. */
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
/** Without NO_AUTO_CREATE_USER, GRANT to an unknown name creates a user without a password. */
const MODE_OF_OLD = `${MODE},NO_AUTO_CREATE_USER`

/** Session settings for texts, values and rows, independent of the server's defaults. */
const SETTINGS = [
  "time_zone = '+00:00'",
  'autocommit = 1',
  'character_set_client = utf8mb4',
  'character_set_results = utf8mb4',
  'collation_connection = utf8mb4_general_ci',
  // A result, or a list of `group_concat`, that the server cuts would look complete. A list of this length is
  // refused as a reply.
  'sql_select_limit = 18446744073709551615',
  `group_concat_max_len = ${SQL_LIMITS.maxReplyBytes}`,
]

/** Configures the session: whether it is read-only, and when the server ends an abandoned statement. */
async function settle(connection: MysqlConnection, reads: boolean, leftMs: number): Promise<void> {
  // MariaDB counts in whole seconds. The call itself ends by its own deadline.
  const limitSeconds = Math.max(1, Math.ceil(leftMs / 1000))
  const own = connection.isMariadb
    ? [
        `sql_mode = '${MODE_OF_OLD}'`,
        `tx_read_only = ${Number(reads)}`,
        `max_statement_time = ${limitSeconds}`,
      ]
    : [
        // GRANT creates no users in MySQL 8, which does not know that mode.
        `sql_mode = if(version() like '5.%', '${MODE_OF_OLD}', '${MODE}')`,
        `transaction_read_only = ${Number(reads)}`,
        `max_execution_time = ${limitSeconds * 1000}`,
      ]
  const all = [...SETTINGS, ...own].map((one) => `SESSION ${one}`)
  await run(connection, plain(`SET ${all.join(', ')}`))
}

/**
 * Resets a session: an open transaction, settings, roles, locks, temporary tables, variables, prepared
 * statements. If the server fails to reset it, the connection is closed. Never rejects.
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

/** Result of one statement. */
type Done = {
  rows: SqlRow[]
  touched: number
  /** Whether the server sent the value of `touched`. */
  isCounted: boolean
  isTable: boolean
  isAtEnd: boolean
}

/** Running statement, which returns up to `size` rows at a time. */
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
  // A declared query is prepared even without parameters: as text, servers write fewer digits and format
  // times differently.
  const isText = values.length === 0 && statement === undefined
  // The cast: values are checked by their declared types, and the library's type of them is narrower than its
  // code.
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

/** Parked result. It stays on its connection, which is not read until the next page. */
type ParkedReading = ParkedResult & { reading: Reading }

const isParkedReading = (parked: Parked | null): parked is ParkedReading =>
  parked !== null && 'reading' in parked

/** Continues a result. @throws database_refused, as an invalid cursor, if the result no longer exists */
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

/**
 * Fails if a parked result is left after an error of the server. Such a connection can only be closed.
 *
 * @throws upstream_closed
 */
export async function mendMysql({ parked }: Lease): Promise<void> {
  if (parked !== null) throw new RuntimeError('upstream_closed', 'a result was left unread')
}

/** Ends the statement that runs on another connection, on the server. */
export const killMysql = (on: MysqlConnection, threadId: number): Promise<unknown> =>
  run(on, plain(`KILL QUERY ${Math.trunc(threadId)}`))
