/** What failed at a database, in the terms of calls: its errors by one table, everything else by the network's. */
import { cut } from '../../bounded/cut.ts'
import { type SqlRequest, stepsOf } from '../../contract/connector/sql.ts'
import { isSqlState, refusalOf } from '../../contract/connector/sql-states.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { errorOf } from '../../contract/errors/thrown.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import type { Guard } from '../wire/guard.ts'

/** Longest text of a server, or of a statement, that a message repeats, in characters. */
const MAX_SAID = 300

/**
 * The error for what a library throws. A defect of ours stays one.
 *
 * @returns database_refused for an error of the server, why the connection ended otherwise
 */
export function failureOf(error: unknown, guard: Guard, from: string): RuntimeError {
  if (error instanceof RuntimeError) return error
  const refused = refusedBy(error)
  if (refused !== null) return refusal(refused.code, refused.said, from)
  const failure = guard.failure()
  if (failure !== null) return failure
  if (!guard.isOpen())
    return new RuntimeError('upstream_closed', `${from} closed the connection in the middle`)
  return new RuntimeError('upstream_garbled', `${from} did not answer as was expected`, {}, error)
}

/** What to know about an error, by its code. */
const HINTS: Readonly<Record<string, string>> = {
  '1045':
    ': the user or the password is wrong, the user may not sign in from the address of Keyway or without encryption, or may not grant this; the server does not say which',
  '28P01':
    ': the user or the password is wrong, or the time of the password is over (valid until); the server does not say which',
}

/** What a server that takes no writes says of one, by the code that it has for much else. */
const REPLICA: Readonly<Record<string, RegExp>> = {
  '0A000': /during recovery/,
  '1290': /read[-_]only/,
  '1836': /read[-_]only/,
}
const WRITES_ELSEWHERE =
  ': this server is a replica, or takes no writes for now. Give the app the address of the one that does'

const hintOf = (code: string, said: string): string =>
  HINTS[code] ?? (REPLICA[code]?.test(said) ? WRITES_ELSEWHERE : '')

/**
 * The error of a login. PgBouncer, before it said so as PostgreSQL does (1.19), has one code for every login that fails,
 * which is otherwise that of a protocol that is broken.
 */
export function loginFailureOf(error: unknown, guard: Guard, from: string): RuntimeError {
  const { code, message }: Error & { code?: unknown } = errorOf(error)
  const isPooler = code === '08P01' && /authentication failed|no such user/.test(message)
  return isPooler ? refusal('28P01', message, from) : failureOf(error, guard, from)
}

/** The error for a code of a server. */
export function refusal(code: string, said: string, from: string): RuntimeError {
  const { name, wire } = refusalOf(code)
  const text = said === '' ? '' : `: ${cut(said, MAX_SAID)}`
  const told = `${from} answered ${code} (${name})${hintOf(code, said)}${text}`
  return new RuntimeError('database_refused', told, { wire, appErrorCode: code })
}

/** What the statements of a request are declared as, in one line: these hold no values. */
export function textOf(request: SqlRequest, { statements }: SqlTarget): string {
  const texts = stepsOf(request).map(({ statement }) => statements[statement]?.text ?? '')
  return cut(texts.join('; '), MAX_SAID).replace(/\s+/g, ' ')
}

/**
 * What says that a statement is wrong as it stands: its syntax, or a table, a column, a function or a type in it. PostgreSQL's
 * codes, and the numbers of MySQL.
 */
const MISTAKEN: ReadonlySet<string> = new Set([
  ...['42601', '42703', '42P01', '42883', '42804', '42P02', '42702', '42803'],
  ...['1054', '1064', '1146', '1305', '1052', '1055'],
])

/** The error with the name and the text of a statement that took too long, or is wrong as it stands. */
export function withStatement(error: unknown, name: string, text: string): unknown {
  if (!(error instanceof RuntimeError)) return error
  const { wire, appErrorCode } = error.details
  if (wire !== 'request_timeout' && !MISTAKEN.has(appErrorCode ?? '')) return error
  const told = `${error.message} (the statement ${name}: ${text})`
  return new RuntimeError(error.code, told, error.details, error)
}

/** Errors whose details say what stands in the way. */
const DETAILED = /^2B/

/** What two writers of one row are told: serialization_failure. */
const CONFLICT = '40001'

/**
 * PostgreSQL tells who changes a role, or another row of its catalogs, together with another session no more than that
 * something went wrong within. Nothing has happened, and it may be done again.
 *
 * Source: `simple_heap_update` and `simple_heap_delete` of PostgreSQL, whose texts are not translated.
 */
const isConflict = (code: string, message: string): boolean =>
  code === 'XX000' && /^tuple concurrently (?:updated|deleted)$/.test(message)

function refusedBy(error: unknown): { code: string; said: string } | null {
  if (!(error instanceof Error)) return null
  const {
    code,
    detail,
    message,
    errno,
    sqlState,
  }: Error & { code?: unknown; detail?: unknown; errno?: unknown; sqlState?: unknown } =
    errorOf(error)
  // MySQL tells its errors apart by numbers; their SQLSTATE is the same for many.
  if (typeof sqlState === 'string' && typeof errno === 'number')
    return { code: String(errno), said: message }
  // Codes of sockets look otherwise: ECONNRESET.
  if (typeof code !== 'string' || !isSqlState(code)) return null
  if (isConflict(code, message)) return { code: CONFLICT, said: message }
  const more = DETAILED.test(code) && typeof detail === 'string' ? ` (${detail})` : ''
  return { code, said: `${message}${more}` }
}
