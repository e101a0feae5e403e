/** Many rows as one parameter for each of their columns: PostgreSQL reads a list of texts in a fifth of what JSON takes it. */
import { type SQL, sql } from 'drizzle-orm'
import { keysOf } from '../../contract/schema/keys.ts'
import { LENGTH_BYTES, LIST_HEADER_BYTES, listHeader } from '../../database/copy-fields.ts'
import { UUID_BYTES } from './kept.ts'

/** Types of columns that a list of texts may be read as. */
type ColumnType = 'text' | 'uuid' | 'jsonb' | 'boolean'

/** What JSON escapes otherwise than a list does. */
const ONLY_JSON = /\\[^"]/

/** Texts as PostgreSQL reads a list of them: as JSON writes it, where nothing but quotes is escaped. */
export function arrayText(texts: readonly (string | null | undefined)[]): string {
  const json = JSON.stringify(texts)
  // Most lists escape nothing, which is seen much faster.
  if (!json.includes('\\') || !ONLY_JSON.test(json))
    // In one piece: else it would be copied once more when it is sent, and be kept as both.
    return ['{', json.slice(1, -1), '}'].join('')
  const items = texts.map((text) =>
    text === null || text === undefined ? 'null' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`,
  )
  return `{${items.join(',')}}`
}

/** Ids, of `UUID_BYTES` each behind each other, as PostgreSQL reads a list of them: in a fraction of what texts take it. */
export function uuidList(ids: Uint8Array): Buffer {
  const count = ids.length / UUID_BYTES
  const list = Buffer.allocUnsafe(LIST_HEADER_BYTES + count * (LENGTH_BYTES + UUID_BYTES))
  let at = listHeader('uuid', count).copy(list)
  for (let from = 0; from < ids.length; from += UUID_BYTES) {
    at = list.writeInt32BE(UUID_BYTES, at)
    for (let k = 0; k < UUID_BYTES; k += 1) list[at + k] = ids[from + k] ?? 0
    at += UUID_BYTES
  }
  return list
}

/**
 * A query of rows from their columns, each a list. Beside each other in what is selected, PostgreSQL reads them row by row;
 * a function in `from` would write all rows to a table of its own first.
 *
 * @param types each column's, by the name that it has in the rows
 * @param columns texts without NUL (kept.ts), or bytes of ids; all of one length
 */
export function rowsOfColumns<N extends string>(
  types: Record<N, ColumnType>,
  columns: Record<N, readonly (string | null | undefined)[] | Uint8Array>,
): SQL {
  const selected = keysOf(types).map((name) => {
    const values = columns[name]
    const list = values instanceof Uint8Array ? uuidList(values) : arrayText(values)
    return sql`unnest(${list}::${sql.raw(types[name])}[]) as ${sql.raw(name)}`
  })
  return sql`select ${sql.join(selected, sql`, `)}`
}
