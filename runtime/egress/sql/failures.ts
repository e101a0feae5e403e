/**
 * Converts the errors that the libraries of databases throw to errors of calls: codes of the server by
 * `SQL_STATES` and `MYSQL_ERRORS` (contract/connector), others by the state of the connection.
 */
import { cut } from '../../bounded/cut.ts'
import { SQL_LIMITS, type SqlRequest, stepsOf } from '../../contract/connector/sql.ts'
import { isSqlState, sqlErrorOf } from '../../contract/connector/sql-states.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { errorOf } from '../../contract/errors/thrown.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import type { Guard } from '../wire/guard.ts'

/** Maximum length of a server's or a statement's text that a message repeats, in characters. */
const MAX_SERVER_MESSAGE = 300

/**
 * Returns the error for one that the library threw. A bug in Keyway remains recognizable as one.
 *
 * @returns database_refused for an error of the server, else the reason why the connection ended
 */
export function failureOf(error: unknown, guard: Guard, from: string): RuntimeError {
  if (error instanceof RuntimeError) return error
  const found = serverErrorIn(error)
  if (found !== null) return sqlServerError(found.code, found.serverText, from)
  const failure = guard.failure()
  if (failure !== null) return failure
  if (!guard.isOpen())
    return new RuntimeError('upstream_closed', `${from} closed the connection in the middle`)
  return new RuntimeError('upstream_garbled', `${from} did not answer as was expected`, {}, error)
}

/** Hints about errors, by their code. */
const HINTS: Readonly<Record<string, string>> = {
  '1045':
    ': the user or the password is wrong, the user may not sign in from the address of Keyway or without encryption, or may not grant this; the server does not say which',
  '28P01':
    ': the user or the password is wrong, or the time of the password is over (valid until); the server does not say which',
}

/** Texts of servers that accept no writes, by codes that are also used for other errors. */
const REPLICA: Readonly<Record<string, RegExp>> = {
  '0A000': /during recovery/,
  '1290': /read[-_]only/,
  '1836': /read[-_]only/,
}
const WRITES_ELSEWHERE =
  ': this server is a replica, or takes no writes for now. Give the app the address of the one that does'

const hintOf = (code: string, serverText: string): string =>
  HINTS[code] ?? (REPLICA[code]?.test(serverText) ? WRITES_ELSEWHERE : '')

/**
 * Returns the error of a failed login. Before version 1.19, PgBouncer reported each failed login with the
 * code of a protocol violation.
 */
export function loginFailureOf(error: unknown, guard: Guard, from: string): RuntimeError {
  const { code, message }: Error & { code?: unknown } = errorOf(error)
  const isPooler = code === '08P01' && /authentication failed|no such user/.test(message)
  return isPooler ? sqlServerError('28P01', message, from) : failureOf(error, guard, from)
}

/**
 * Returns the error for a code of a server: always database_refused. The code that callers see (`wire`) comes
 * from `SQL_STATES` or `MYSQL_ERRORS`; `app_error_code` is the server's code.
 */
export function sqlServerError(code: string, serverText: string, from: string): RuntimeError {
  const { name, wire } = sqlErrorOf(code)
  const text = serverText === '' ? '' : `: ${cut(serverText, MAX_SERVER_MESSAGE)}`
  const message = `${from} answered ${code} (${name})${hintOf(code, serverText)}${text}`
  return new RuntimeError('database_refused', message, { wire, appErrorCode: code })
}

/** Returns the error for a query without pages that has more rows than one answer may have. */
export const tooManyRows = (statement: string): RuntimeError =>
  new RuntimeError(
    'upstream_too_large',
    `The statement ${statement} found more than ${SQL_LIMITS.maxRows} rows: read it in pages`,
  )

/** Returns the declared texts of a request's statements in one line. They contain no values. */
export function textOf(request: SqlRequest, { statements }: SqlTarget): string {
  const texts = stepsOf(request).map(({ statement }) => statements[statement]?.text ?? '')
  return cut(texts.join('; '), MAX_SERVER_MESSAGE).replace(/\s+/g, ' ')
}

/**
 * Codes for a statement that is wrong in itself: its syntax, or a table, column, function or type in it.
 * PostgreSQL's codes, and the numbers of MySQL.
 */
const MISTAKEN: ReadonlySet<string> = new Set([
  ...['42601', '42703', '42P01', '42883', '42804', '42P02', '42702', '42803'],
  ...['1054', '1064', '1146', '1305', '1052', '1055'],
])

/** Adds the name and the text of a statement to the error if it took too long, or is wrong in itself. */
export function withStatement(error: unknown, name: string, text: string): unknown {
  if (!(error instanceof RuntimeError)) return error
  const { wire, appErrorCode } = error.details
  if (wire !== 'request_timeout' && !MISTAKEN.has(appErrorCode ?? '')) return error
  const message = `${error.message} (the statement ${name}: ${text})`
  return new RuntimeError(error.code, message, error.details, error)
}

/** Errors whose details name the obstacle. */
const DETAILED = /^2B/

/** Code for two concurrent writers of one row: serialization_failure. */
const CONFLICT = '40001'

/**
 * Reports whether an error means a concurrent change. If two sessions change a role, or another row of a
 * catalog, PostgreSQL reports only an internal error. The change was not made and may be tried again.
 *
 * Source: `simple_heap_update` and `simple_heap_delete` of PostgreSQL, whose texts are not translated.
 */
const isConflict = (code: string, message: string): boolean =>
  code === 'XX000' && /^tuple concurrently (?:updated|deleted)$/.test(message)

function serverErrorIn(error: unknown): { code: string; serverText: string } | null {
  if (!(error instanceof Error)) return null
  const {
    code,
    detail,
    message,
    errno,
    sqlState,
  }: Error & { code?: unknown; detail?: unknown; errno?: unknown; sqlState?: unknown } =
    errorOf(error)
  // MySQL distinguishes its errors by number. Many of them share a SQLSTATE.
  if (typeof sqlState === 'string' && typeof errno === 'number')
    return { code: String(errno), serverText: message }
  // Codes of sockets look different: ECONNRESET.
  if (typeof code !== 'string' || !isSqlState(code)) return null
  if (isConflict(code, message)) return { code: CONFLICT, serverText: message }
  const more = DETAILED.test(code) && typeof detail === 'string' ? ` (${detail})` : ''
  return { code, serverText: `${message}${more}` }
}
