/** Which rows of the table of endpoints answer a list, in which form, and its columns as CSV. */
import type { AnySchema } from '../schema/shape.ts'
import { schemaEntries, shapeOf } from '../schema/shape.ts'
import type { Endpoint } from './endpoint.ts'

/** `page`, `slice` and `cursor` are read piece by piece, by parameters of the query; `whole` is one answer. */
export type ListForm = {
  by: 'page' | 'slice' | 'cursor' | 'whole'
  item: AnySchema
  /** The member of the answer that is the list; null where the answer itself is. */
  member: string | null
}

/** How a row answers a list; null for one that answers none. */
export function listForm(
  row: Pick<Endpoint, 'method' | 'answer' | 'output' | 'who' | 'query'>,
): ListForm | null {
  const { method, answer, output, who, query } = row
  if (method !== 'GET' || output === null || who === 'anybody') return null
  if (answer === 'page') return { by: 'page', item: output, member: 'items' }
  if (answer === 'limit-offset') return { by: 'slice', item: output, member: 'items' }
  if (answer !== 'json') return null
  const { type, item } = shapeOf(output)
  if (type === 'array' && item) return { by: 'whole', item, member: null }
  const [first, ...others] = Object.entries(schemaEntries(output))
  const inside = first ? shapeOf(first[1]).item : undefined
  if (!first || !inside || others.some(([name]) => !BESIDE.includes(name))) return null
  return { by: 'cursor' in query ? 'cursor' : 'whole', item: inside, member: first[0] }
}

/** What stands beside a list that has its own name in an answer. */
const BESIDE = ['next_cursor', 'total_count']

/** The column of a list of single values. */
const VALUE = 'value'

/** The members of what is listed; `value` for what has none. */
export function csvColumns(item: AnySchema): string[] {
  const names = Object.keys(schemaEntries(item))
  return names.length === 0 ? [VALUE] : names
}
