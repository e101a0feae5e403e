/**
 * Tables and columns that may contain personal data, read from the database's own catalogue, so that a table
 * added later is both exported and erased.
 */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { JOBS_SCHEMA } from '../../database/jobs.ts'
import { anySpelling, OTHER_LETTERS } from './spellings.ts'

export type Table = {
  schema: string
  name: string
  /** Whether the rows have a domain. */
  ofDomain: boolean
  /** Columns with ids. */
  ids: string[]
  /** Columns with lists of ids. */
  idLists: string[]
  /** Columns with text, and their types. */
  texts: { name: string; type: 'text' | 'text[]' | 'jsonb' }[]
  /** Columns with secrets, sealed or hashed. */
  sealed: string[]
}

type Column = { schema: string; table_name: string; name: string; type: string; generated: string }

/** Returns the tables of the host and of its jobs. */
export async function tablesOf(db: Db): Promise<Table[]> {
  const { rows } = await db.execute<Column>(sql`
    select n.nspname as schema, c.relname as table_name, a.attname as name, a.attgenerated as generated,
      format_type(a.atttypid, null) as type
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname in ('public', ${JOBS_SCHEMA}) and c.relkind in ('r', 'p') and not c.relispartition
    order by n.nspname, c.relname, a.attnum`)
  const tables = new Map<string, Table>()
  for (const { schema, table_name, name, type, generated } of rows) {
    const key = `${schema}.${table_name}`
    const table = tables.get(key) ?? {
      ...{ schema, name: table_name, ofDomain: false },
      ...{ ids: [], idLists: [], texts: [], sealed: [] },
    }
    tables.set(key, table)
    if (name === 'domain_id') table.ofDomain = true
    else if (type === 'uuid') table.ids.push(name)
    else if (type === 'uuid[]') table.idLists.push(name)
    else if (type === 'bytea') table.sealed.push(name)
    else if ((type === 'text' || type === 'text[]' || type === 'jsonb') && generated === '')
      table.texts.push({ name, type })
  }
  return [...tables.values()]
}

/**
 * Returns a PostgreSQL regular expression that finds a text which is not part of a longer word, in each
 * letter case and normal form. Its first group is the preceding character, which in JSON may be an escape
 * sequence.
 */
export const standingAlone = (text: string): string =>
  `(^|[^[:alnum:]${OTHER_LETTERS}._%+-]|\\\\[nrtbf]|\\\\u[0-9a-f]{4})(?:${anySpelling(text)})` +
  `(?![[:alnum:]${OTHER_LETTERS}_%+-]|[.@][[:alnum:]${OTHER_LETTERS}])`
