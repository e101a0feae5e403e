/**
 * Indexes that find a part of a text. They need the extension pg_trgm, which the embedded server brings
 * and nearly every PostgreSQL has, but which an operator's role may not be allowed to create: then lists
 * are searched without them, as exactly and slower. Looked at in every start, so that a server to which
 * the extension is added later gets its indexes.
 */
import type { Client } from 'pg'
import { messageOf } from '../contract/errors/thrown.ts'

/** Index, table, column. */
const SEARCHED = [
  ['users_search', 'users', 'search_text'],
  ['groups_search', 'groups', 'name'],
  ['tasks_search', 'tasks', 'description'],
  ['apps_search', 'apps', 'name'],
  ['requestable_permissions_search', 'requestable_permissions', 'label'],
  ['access_review_texts_search', 'access_review_texts', 'searched'],
] as const

/** Makes the indexes that are missing. One host at a time: to be called under the lock of the migrations. */
export async function makeSearchIndexes(
  client: Client,
  tell: (text: string) => void,
): Promise<void> {
  const problem = await makeExtension(client)
  const { rows } = await client.query<{ schema: string }>(
    "select quote_ident(nspname) as schema from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'pg_trgm'",
  )
  const [found] = rows
  if (!found) {
    tell(
      `searches for a part of a name read the whole table: the database has no extension pg_trgm (${problem}); let an administrator run \`create extension pg_trgm\` in it and start again`,
    )
    return
  }
  for (const [index, table, column] of SEARCHED)
    await client.query(
      `create index if not exists ${index} on ${table} using gin (${column} ${found.schema}.gin_trgm_ops)`,
    )
}

/** Null, or why it could not be made. */
async function makeExtension(client: Client): Promise<string | null> {
  try {
    await client.query('create extension if not exists pg_trgm')
    return null
  } catch (error) {
    return messageOf(error)
  }
}
