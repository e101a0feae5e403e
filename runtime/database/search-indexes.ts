/**
 * Indexes for substring searches. They need the extension pg_trgm, which the embedded server and nearly every
 * PostgreSQL have, but which an operator's role may not be allowed to create. In that case lists are searched
 * without the indexes, with the same results but slower. Every start checks, so that a server gets its
 * indexes if the extension is added later.
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

/**
 * Creates missing indexes. Call it under the lock of the migrations, so that one host at a time does this.
 */
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

/** Creates the extension. Returns null, or the reason why it could not be created. */
async function makeExtension(client: Client): Promise<string | null> {
  try {
    await client.query('create extension if not exists pg_trgm')
    return null
  } catch (error) {
    return messageOf(error)
  }
}
