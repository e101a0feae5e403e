/** Performs one judged request on one connection to PostgreSQL. */
import { randomUUID } from 'node:crypto'
import type { Connection, Submittable } from 'pg'
import {
  SQL_LIMITS,
  type SqlRequest,
  type StatementStep,
  stepsOf,
} from '../../contract/connector/sql.ts'
import type { SqlPage, SqlRow } from '../../contract/connector/sql-context.ts'
import type { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import type { Lease as Leased, Parked } from '../wire/pool.ts'
import { duplicateColumn } from './columns.ts'
import type { PostgresConnection } from './connect.ts'
import { type ParkedResult, readCursor, staleCursor, textAsked, writeCursor } from './cursor.ts'
import { tooManyRows } from './failures.ts'
import { judgedStatement, writeText } from './quote.ts'
import { toRow, toText } from './values.ts'

type Lease = Leased<PostgresConnection>

/** Request whose statements were judged. */
export type JudgedSql = { request: SqlRequest; target: SqlTarget }

/**
 * Performs a request in its own transaction. It is read-only for a query, so that the server refuses a
 * statement that is declared to read but writes. The session is reset afterwards.
 *
 * @returns a page for a query, else the number of rows that each statement touched
 * @throws the errors of the library; egress_url and others for faults of the request itself
 */
export async function perform(
  { request, target }: JudgedSql,
  lease: Lease,
  leftMs: number,
): Promise<SqlPage | { touched: number[] }> {
  const { connection } = lease
  if (request.operation === 'query' && request.page) {
    const { size, cursor } = request.page
    const text = textAsked(request, target)
    if (cursor) return goOn(cursor, size, lease, text)
    await leaveParked(lease)
    return firstPage(await written(request, target), { size, text }, lease, leftMs)
  }
  await leaveParked(lease)
  const steps = await Promise.all(stepsOf(request).map((step) => written(step, target)))
  const isRead = request.operation === 'query'
  const most = isRead ? SQL_LIMITS.maxRows + 1 : 0
  const before = opening(isRead, leftMs)
  const all = await finish(connection, [
    ...before,
    ...steps.map((step) => ({ ...step, rows: most })),
    { text: 'COMMIT' },
  ])
  const done = all.slice(before.length, before.length + steps.length)
  if (!isRead) return { touched: done.map(({ tag }) => touchedBy(tag)) }
  const rows = done[0]?.rows ?? []
  if (rows.length <= SQL_LIMITS.maxRows) return { rows, cursor: null }
  throw tooManyRows(request.statement)
}

/** Statement, as it is sent. */
type Sent = { text: string; values?: (string | null)[]; rows?: number; statement?: string }

async function written(
  { statement, parameters, names }: StatementStep,
  target: SqlTarget,
): Promise<Sent> {
  const declared = judgedStatement(statement, parameters, target)
  return {
    statement,
    text: await writeText(statement, declared, names, target.dialect),
    values: parameters.map(toText),
  }
}

/**
 * Formats of values, independent of the server's defaults. With `extra_float_digits` above 0, a number has all
 * of its digits.
 */
const SETTINGS = {
  DateStyle: 'ISO, YMD',
  TimeZone: 'UTC',
  IntervalStyle: 'iso_8601',
  bytea_output: 'hex',
  extra_float_digits: 1,
  standard_conforming_strings: 'on',
}

/**
 * Removes pg_catalog from the search path; PostgreSQL then searches it first. If another schema came before
 * it, the owner of the database could replace PostgreSQL's tables and operators, which would run with the
 * connector's rights.
 */
const OWN_SCHEMA_FIRST = `, pg_catalog.set_config('search_path', pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.current_setting('search_path'), '(^|,)[[:space:]]*"?pg_catalog"?[[:space:]]*(?=,|$)', '', 'gi'), '^[[:space:]]*,', ''), true)`

/** Disables JIT: compiling a plan takes longer than a page. Servers before version 11 have no JIT. */
const NO_COMPILING =
  ", CASE WHEN pg_catalog.current_setting('jit', true) IS NOT NULL THEN pg_catalog.set_config('jit', 'off', true) END"

/**
 * Begins a transaction, sets the formats of values for it, and has the server end it when its time is over.
 * The SELECT takes a snapshot: after it, the server lets no read-only transaction become one that writes.
 */
const opening = (isRead: boolean, leftMs: number): Sent[] => [
  { text: isRead ? 'BEGIN READ ONLY' : 'BEGIN READ WRITE' },
  {
    text: `SELECT ${Object.entries({
      ...SETTINGS,
      statement_timeout: Math.max(1, Math.floor(leftMs)),
    })
      .map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`)
      .join(', ')}${OWN_SCHEMA_FIRST}${NO_COMPILING}`,
  },
]

/** Returns the last number of a command's tag: `INSERT 0 3`. */
const touchedBy = (tag: string): number => Number(/ (\d+)$/.exec(tag)?.[1] ?? 0)

/** Converts values to a row. */
type Read = (values: readonly (string | null)[]) => SqlRow

/** Result of one statement. `read` reads the further rows of a suspended one. */
type Done = { rows: SqlRow[]; tag: string; read: Read; isSuspended: boolean }

/** Resets a session: settings, roles, locks, temporary tables, prepared statements, listeners. */
const RESET: Sent = { text: 'DISCARD ALL' }

/**
 * Ends a transaction with the last of these statements, and resets the session. If the server fails to reset
 * it, the transaction has ended nevertheless, and the connection is closed.
 */
async function finish(connection: PostgresConnection, all: readonly Sent[]): Promise<Done[]> {
  const done = await run(connection, [...all, RESET], all.length)
  if (done.length <= all.length) connection.guard.end()
  return done
}

/**
 * Sends statements together, in one round trip, and waits for their results. After the first `needed` ones,
 * an error is ignored.
 */
const run = (
  connection: PostgresConnection,
  all: readonly Sent[],
  needed = all.length,
): Promise<Done[]> =>
  submit(
    connection,
    { ...NO_ROWS, statement: queried(all), answers: all.length, needed },
    (wire) => {
      for (const { text, values = [], rows } of all) {
        wire.parse({ text, name: '', types: [] }, true)
        wire.bind({ values }, true)
        if (rows !== undefined) wire.describe({ type: 'P' }, true)
        wire.execute({ rows: String(rows ?? 0) }, true)
      }
    },
  )

const NO_ROWS = { read: toRow([]) }

/** Returns the name of the statement that returns rows, or null. Writes return only a count of rows. */
const queried = (all: readonly Sent[]): string | null =>
  all.find(({ rows }) => rows !== undefined && rows > 0)?.statement ?? null

/** Reads further rows of the suspended statement. */
const more = (connection: PostgresConnection, size: number, read: Read): Promise<Done[]> =>
  submit(connection, { read, statement: null, answers: 1, needed: 1 }, (wire) =>
    wire.execute({ rows: String(size) }, true),
  )

/**
 * Expected answer. `read` converts the first rows. `statement` names the statement that returns rows, if any.
 * `answers` is the number of answered statements. After `needed` of them, an error is ignored.
 */
type Expected = { read: Read; statement: string | null; answers: number; needed: number }

/** Handlers that the library calls for incoming messages (pg 8, `Client`). */
type Handlers = {
  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void
  handleDataRow(message: { fields: (string | null)[] }): void
  handleCommandComplete(message: { text: string }): void
  handlePortalSuspended(): void
  handleEmptyQuery(): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

function submit(
  { client, guard }: PostgresConnection,
  expected: Expected,
  send: (wire: Connection) => void,
): Promise<Done[]> {
  return new Promise((resolve, reject) => {
    const done: Done[] = []
    let rows: SqlRow[] = []
    let { read } = expected
    let fault: RuntimeError | null = null
    const end = (tag: string, isSuspended = false) => {
      done.push({ rows, tag, read, isSuspended })
      rows = []
    }
    const query: Submittable & Handlers = {
      submit(wire) {
        guard.socket.cork()
        send(wire)
        wire.sync()
        guard.socket.uncork()
      },
      handleRowDescription({ fields }) {
        if (expected.statement !== null) fault = duplicateColumn(expected.statement, fields)
        read = toRow(fields)
      },
      handleDataRow({ fields }) {
        rows.push(read(fields))
      },
      handleCommandComplete: ({ text }) => end(text),
      handlePortalSuspended: () => end('', true),
      handleEmptyQuery: () => end(''),
      // A server that is ready too early has not answered all. That is not an empty result.
      handleReadyForQuery: () =>
        fault === null && done.length === expected.answers
          ? resolve(done)
          : reject(fault ?? new Error('not all answered')),
      handleError(error) {
        if (done.length < expected.needed) reject(error)
        else if (fault !== null) reject(fault)
        else resolve(done)
      },
    }
    client.query(query)
  })
}

/** Rolls back a failed transaction, so that the connection can be used again. */
export async function rollBack(lease: Lease): Promise<void> {
  lease.parked = null
  // In any state, because the state is updated after the error.
  await finish(lease.connection, [{ text: 'ROLLBACK' }])
}

/** Abandons a parked result, if there is one. */
async function leaveParked(lease: Lease): Promise<void> {
  if (lease.connection.state() !== 'I') await rollBack(lease)
}

/** Parked result that the server holds, and the reader of its rows. */
type ParkedRows = ParkedResult & { read: Read }

const isParkedRows = (parked: Parked | null): parked is ParkedRows =>
  parked !== null && 'read' in parked

async function firstPage(
  sent: Sent,
  { size, text }: { size: number; text: string },
  lease: Lease,
  leftMs: number,
): Promise<SqlPage> {
  const done = await run(lease.connection, [...opening(true, leftMs), { ...sent, rows: size }])
  return pageOf(done, lease, { id: randomUUID(), given: 0, text })
}

/** Continues a result. @throws database_refused, as an invalid cursor, if the result no longer exists */
async function goOn(cursor: string, size: number, lease: Lease, text: string): Promise<SqlPage> {
  const { parked } = lease
  lease.parked = null
  const { id, given } = readCursor(cursor)
  if (!isParkedRows(parked) || parked.id !== id || parked.given !== given || parked.text !== text)
    throw staleCursor()
  return pageOf(await more(lease.connection, size, parked.read), lease, parked)
}

async function pageOf(
  done: readonly Done[],
  lease: Lease,
  { id, given, text }: ParkedResult,
): Promise<SqlPage> {
  const last = done.at(-1)
  const rows = last?.rows ?? []
  if (!last?.isSuspended) {
    await finish(lease.connection, [{ text: 'COMMIT' }])
    return { rows, cursor: null }
  }
  const parked: ParkedRows = { id, given: given + rows.length, text, read: last.read }
  lease.parked = parked
  return { rows, cursor: writeCursor(parked) }
}
