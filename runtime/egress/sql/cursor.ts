/** Where a result goes on: which one, and how many of its rows were given. */
import type { SqlRequest } from '../../contract/connector/sql.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Parked } from '../wire/pool.ts'

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
