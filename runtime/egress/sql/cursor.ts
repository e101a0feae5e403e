/** Where a result goes on: which one, how many of its rows were given, and to whom. */
import type { SqlRequest } from '../../contract/connector/sql.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import type { Parked } from '../wire/pool.ts'

/**
 * A result that waits, with the text of its statement. A request for another statement does not go on with it: whoever may
 * use that one may not use this one, or not any more.
 */
export type ParkedResult = Parked & { text: string }

/** The declared text of the statement that a query names. */
export const textAsked = (
  { statement }: Extract<SqlRequest, { operation: 'query' }>,
  { statements }: SqlTarget,
): string => statements[statement]?.text ?? ''

const CURSOR = /^([0-9a-f-]{36}) (\d{1,8})$/

export const writeCursor = ({ id, given }: Parked): string => `${id} ${given}`

/** @throws database_refused for what is none */
export function readCursor(cursor: string): Parked {
  const [, id, given] = CURSOR.exec(cursor) ?? []
  if (id === undefined) throw staleCursor()
  return { id, given: Number(given) }
}

/** The result that a request goes on with; undefined for another request. */
export function parkedIdOf(request: SqlRequest): string | undefined {
  const cursor = request.operation === 'query' ? request.page?.cursor : null
  return cursor ? CURSOR.exec(cursor)?.[1] : undefined
}

/** The error where a result is not there any more. */
export const staleCursor = (): RuntimeError =>
  new RuntimeError(
    'database_refused',
    'The result cannot go on: the host keeps it for half a minute, for one call. Begin again, or have the statement page by a key',
    { wire: 'invalid_page_token' },
  )
