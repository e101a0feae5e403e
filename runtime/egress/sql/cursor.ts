/**
 * Cursors of parked results: which result, how many of its rows were returned, and for which statement.
 */
import type { SqlRequest } from '../../contract/connector/sql.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import type { Parked } from '../wire/pool.ts'

/**
 * Parked result, with the text of its statement. A request for another statement cannot continue it: a
 * caller that may use that statement may have no right, or no longer, to use this one.
 */
export type ParkedResult = Parked & { text: string }

/** Returns the declared text of the statement that a query names. */
export const textAsked = (
  { statement }: Extract<SqlRequest, { operation: 'query' }>,
  { statements }: SqlTarget,
): string => statements[statement]?.text ?? ''

const CURSOR = /^([0-9a-f-]{36}) (\d{1,8})$/

export const writeCursor = ({ id, given }: Parked): string => `${id} ${given}`

/** Parses a cursor. @throws database_refused if it is not one */
export function readCursor(cursor: string): Parked {
  const [, id, given] = CURSOR.exec(cursor) ?? []
  if (id === undefined) throw staleCursor()
  return { id, given: Number(given) }
}

/** Returns the id of the result that a request continues, or undefined for another request. */
export function parkedIdOf(request: SqlRequest): string | undefined {
  const cursor = request.operation === 'query' ? request.page?.cursor : null
  return cursor ? CURSOR.exec(cursor)?.[1] : undefined
}

/** Returns the error for a result that no longer exists. */
export const staleCursor = (): RuntimeError =>
  new RuntimeError(
    'database_refused',
    'The result cannot go on: the host keeps it for half a minute, for one call. Begin again, or have the statement page by a key',
    { wire: 'invalid_page_token' },
  )
