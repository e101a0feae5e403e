/** The HTTP API: the client, its errors, and the rows of statements. Knows no capability. */
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

/** What one statement gave. */
export type Result = { series?: Series[]; error?: string }

/** An answer as far as it is known before it is checked: nothing, or any JSON. */
type Answer = { results?: Result[] } | null | undefined

/** A client of the tenant's server. */
export const service = (ctx: Ctx): Client =>
  client(ctx, { ...anonymous(ctx), authorization: ctx.basic() })

/** How to ask the server without credentials. */
export const anonymous = (ctx: Ctx): ClientOptions => ({
  baseUrl: ctx.settings.base_url,
  onError: errorOf,
})

/** What InfluxDB says, in the order of asking: what it means, and our code for it, as InfluxDB has none. */
const MEANINGS: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^user not found/, 'not_found', 'user_not_found'],
  [/^database not found/, 'not_found', 'database_not_found'],
  [/^user already exists/, 'api_error', 'user_exists'],
  [/^query-timeout limit exceeded/, 'request_timeout', 'query_timeout'],
  [/^max-concurrent-queries limit exceeded/, 'service_error', 'max_concurrent_queries'],
  [/requires admin privilege/, 'permission_denied', 'no_administrator'],
  [/create admin user first/, 'permission_denied', 'no_administrator_yet'],
]

/** The error of an answer that is not 2xx. */
async function errorOf(reply: UpstreamReply): Promise<Error> {
  const error = await ConnectorError.from(reply)
  const meant = MEANINGS.find(([says]) => says.test(error.message))
  if (meant === undefined) return error
  const { message, status_code, raised_by } = error
  return new ConnectorError(meant[1], message, { status_code, raised_by, app_error_code: meant[2] })
}

/** The error that a statement gave: the answer's status is 200 for these. */
export function statementError(says: string): ConnectorError {
  const [, code = 'api_error', app_error_code = null] =
    MEANINGS.find(([pattern]) => pattern.test(says)) ?? []
  return new ConnectorError(code, says, { app_error_code, status_code: 200 })
}

/**
 * What statements that only read gave, in their order. They go in one request, and the first that fails is the last
 * result: those behind it were not executed.
 *
 * @throws invalid_response when the answer has no results
 */
export async function readAll(ctx: Ctx, statements: readonly string[]): Promise<Result[]> {
  return resultsOf(await service(ctx).get<Answer>('/query', { query: { q: statements.join(';') } }))
}

/** The rows that one statement gave. */
export async function read(ctx: Ctx, statement: string): Promise<unknown[][]> {
  return onlyRows(await readAll(ctx, [statement]))
}

/** Runs a statement that changes something. The statement is in the body: it may hold a password. */
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
 * The rows of a result.
 *
 * @throws the error of the statement; invalid_response where the server has cut the rows off
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

/** @throws invalid_response for a cell that is no text */
export function textIn(row: readonly unknown[], column: number): string {
  const cell = row[column]
  if (typeof cell !== 'string')
    throw new ConnectorError('invalid_response', `Column ${column} of an answer holds no text`)
  return cell
}
