/** Determines which endpoints return a list, in which form, and its columns as CSV. */
import type { AnySchema } from '../schema/shape.ts'
import { schemaEntries, shapeOf } from '../schema/shape.ts'
import type { Endpoint } from './endpoint.ts'

/** `page`, `slice` and `cursor` are read in parts, by query parameters. `whole` is a single response. */
export type ListForm = {
  by: 'page' | 'slice' | 'cursor' | 'whole'
  item: AnySchema
  /** Member of the response that holds the list; null if the response itself is the list. */
  member: string | null
}

/** Returns the form in which an endpoint returns a list, or null if it returns none. */
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

/** Members allowed next to a list that has its own name in a response. */
const BESIDE = ['next_cursor', 'total_count']

/** Column of a list of single values. */
const VALUE = 'value'

/** Returns the columns of a list's items: their members, or `value` if they have none. */
export function csvColumns(item: AnySchema): string[] {
  const names = Object.keys(schemaEntries(item))
  return names.length === 0 ? [VALUE] : names
}
