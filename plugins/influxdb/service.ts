/** HTTP API: client, errors, and the rows of statements. Independent of capabilities. */
import {
  type Client,
  type ClientOptions,
  type ConnectorContext,
  ConnectorError,
  client,
  type ErrorCode,
  form,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

type Series = { columns: string[]; values?: unknown[][]; partial?: boolean }

/** Result of one statement. */
export type Result = { series?: Series[]; error?: string }

/** Reply before validation: empty, or any JSON. */
type Answer = { results?: Result[] } | null | undefined

/** Returns a client of the tenant's server. */
export const service = (ctx: Ctx): Client =>
  client(ctx, { ...anonymous(ctx), authorization: ctx.basic() })

/** Returns the options of a client without credentials. */
export const anonymous = (ctx: Ctx): ClientOptions => ({
  baseUrl: ctx.settings.base_url,
  onError: errorOf,
})

/**
 * Error code and application code by error message. The first match wins. InfluxDB has no codes of its own.
 */
const MEANINGS: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^user not found/, 'not_found', 'user_not_found'],
  [/^database not found/, 'not_found', 'database_not_found'],
  [/^user already exists/, 'api_error', 'user_exists'],
  [/^query-timeout limit exceeded/, 'request_timeout', 'query_timeout'],
  [/^max-concurrent-queries limit exceeded/, 'service_error', 'max_concurrent_queries'],
  [/requires admin privilege/, 'permission_denied', 'no_administrator'],
  [/create admin user first/, 'permission_denied', 'no_administrator_yet'],
]

/** Converts a reply other than 2xx to an error. */
async function errorOf(reply: UpstreamReply): Promise<Error> {
  const error = await ConnectorError.from(reply)
  const meant = MEANINGS.find(([says]) => says.test(error.message))
  if (meant === undefined) return error
  const { message, status_code, raised_by } = error
  return new ConnectorError(meant[1], message, { status_code, raised_by, app_error_code: meant[2] })
}

/** Converts a statement's error message to an error. The reply's status is 200 for these. */
export function statementError(says: string): ConnectorError {
  const [, code = 'api_error', app_error_code = null] =
    MEANINGS.find(([pattern]) => pattern.test(says)) ?? []
  return new ConnectorError(code, says, { app_error_code, status_code: 200 })
}

/**
 * Runs read-only statements in one request and returns their results in order. The first failed statement has
 * the last result, because the rest were not executed.
 *
 * @throws `invalid_response` if the reply has no results
 */
export async function readAll(ctx: Ctx, statements: readonly string[]): Promise<Result[]> {
  return resultsOf(await service(ctx).get<Answer>('/query', { query: { q: statements.join(';') } }))
}

/** Runs one read-only statement and returns its rows. */
export async function read(ctx: Ctx, statement: string): Promise<unknown[][]> {
  return onlyRows(await readAll(ctx, [statement]))
}

/** Runs a statement that changes something. It is sent in the body, because it may contain a password. */
export async function change(ctx: Ctx, statement: string): Promise<void> {
  onlyRows(resultsOf(await service(ctx).post<Answer>('/query', form({ q: statement }))))
}

function resultsOf(answer: Answer): Result[] {
  const results = answer?.results
  if (!Array.isArray(results) || results.length === 0)
    throw new ConnectorError('invalid_response', 'The answer has no results. Is this InfluxDB 1.x?')
  return results
}

function onlyRows([result]: Result[]): unknown[][] {
  return rowsOf(result ?? {})
}

/**
 * Returns the rows of a result.
 *
 * @throws the error of the statement; `invalid_response` if the server truncated the rows
 */
export function rowsOf({ error, series = [] }: Result): unknown[][] {
  if (error !== undefined) throw statementError(error)
  if (series.some(({ partial }) => partial === true))
    throw new ConnectorError(
      'invalid_response',
      'InfluxDB gave a part of the rows: set max-row-limit = 0 in the section [http] of its configuration',
      { app_error_code: 'max_row_limit' },
    )
  return series.flatMap(({ values = [] }) => values)
}

/**
 * Returns the text in a column of a row.
 *
 * @throws `invalid_response` if the cell is not text
 */
export function textIn(row: readonly unknown[], column: number): string {
  const cell = row[column]
  if (typeof cell !== 'string')
    throw new ConnectorError('invalid_response', `Column ${column} of an answer holds no text`)
  return cell
}
