import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmbeddedDatabase } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { ownServer } from '../kit/own-server.ts'

let server: EmbeddedDatabase
let client: Client

beforeAll(async () => {
  server = (await ownServer({ isEmpty: true })).server
  client = new Client(server.connection)
  await client.connect()
})
afterAll(() => client.end())

async function open(): Promise<string[]> {
  const messages: string[] = []
  const database = await openDatabase(
    server.connection,
    () => {},
    (text) => messages.push(text),
  )
  expect((await database.db.execute('select count(*) from users')).rows).toHaveLength(1)
  await database.close()
  return messages
}

const indexes = async () =>
  (
    await client.query(
      "select indexname from pg_indexes where indexname like '%\\_search' order by 1",
    )
  ).rows.map(({ indexname }) => indexname)

test('a database whose server refuses pg_trgm is used without search indexes until the extension exists', async () => {
  await client.query(`create function refuse() returns event_trigger language plpgsql as
    $$ begin raise exception 'extensions are made by administrators'; end $$`)
  await client.query(`create event trigger refuse on ddl_command_start
    when tag in ('CREATE EXTENSION') execute function refuse()`)
  const messages = await open()
  expect(messages).toHaveLength(1)
  expect(messages[0]).toMatch(/no extension pg_trgm \(extensions are made by administrators\)/)
  expect(messages[0]).toMatch(/let an administrator run `create extension pg_trgm`/)
  expect(await indexes()).toEqual([])

  // The administrator installs extensions in a separate schema, as some providers do.
  await client.query('drop event trigger refuse')
  await client.query('create schema "Extensions"')
  await client.query('create extension pg_trgm schema "Extensions"')
  expect(await open()).toEqual([])
  expect(await indexes()).toEqual([
    'access_review_texts_search',
    'apps_search',
    'groups_search',
    'requestable_permissions_search',
    'tasks_search',
    'users_search',
  ])
  expect(await open()).toEqual([])
})
