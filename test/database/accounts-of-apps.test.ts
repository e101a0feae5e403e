/**
 * Accounts always have an app, also when concurrent transactions change both. Triggers check this in place of
 * a foreign key (migrations 0047 and 0059).
 */
import { once } from 'node:events'
import { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../e2e/until.ts'
import { openTestDatabase, type TestDatabase } from '../kit/databases.ts'

let database: TestDatabase
let one: Client
let other: Client
let domainId: string
let appId: string

const connected = async (): Promise<Client> => {
  const client = new Client(database.login)
  await client.connect()
  return client
}

beforeAll(async () => {
  database = await openTestDatabase()
  ;[one, other] = [await connected(), await connected()]
})
afterAll(async () => {
  await Promise.all([one.end(), other.end()])
  await database.drop()
})

const idOf = async (statement: string, values: unknown[] = []): Promise<string> =>
  (await one.query<{ id: string }>(`${statement} returning id`, values)).rows[0]?.id ?? ''

const newApp = () =>
  idOf(
    `insert into apps (domain_id, app_class_id, instance_id, name)
    values ($1, 'acme', gen_random_uuid()::text, 'Acme')`,
    [domainId],
  )

beforeEach(async () => {
  domainId ??= await idOf(`insert into domains (name) values ('Acme')`)
  appId = await newApp()
})

const COLUMNS = 'domain_id, app_id, unique_identifier, account_type, status'
const insert = (client: Client, name: string, more = '') =>
  client.query(`insert into accounts (${COLUMNS}) values ($1, $2, $3, 'USER', 'ACTIVE') ${more}`, [
    domainId,
    appId,
    name,
  ])
const remove = (client: Client) => client.query('delete from apps where id = $1', [appId])

async function accountsThere(): Promise<string[]> {
  const { rows } = await one.query<{ id: string }>(
    'select unique_identifier as id from accounts where app_id = $1 order by 1',
    [appId],
  )
  return rows.map(({ id }) => id)
}

/** Runs a statement that has to wait for `ended`, and returns its error code or null. */
async function waitingFor(
  client: Client,
  statement: (client: Client) => Promise<unknown>,
  ended: () => Promise<unknown>,
): Promise<string | null> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const done = statement(client).then(
    () => null,
    (error: { code: string }) => error.code,
  )
  const looking = await connected()
  try {
    await until('the transaction waits for a lock', async () => {
      const { rows: waits } = await looking.query(
        `select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`,
        [rows[0]?.pid],
      )
      return waits.length > 0
    })
  } finally {
    await looking.end()
  }
  await ended()
  return done
}

const LEVELS = ['read committed', 'repeatable read', 'serializable']

test.each(LEVELS)(
  'accounts are refused if the deletion of their app commits first (%s)',
  async (level) => {
    await one.query('begin')
    await remove(one)
    await other.query(`begin isolation level ${level}`)
    const code = await waitingFor(
      other,
      (client) => insert(client, 'late'),
      () => one.query('commit'),
    )
    await other.query('rollback')
    expect(code).toBe(level === 'read committed' ? '23503' : '40001')
    expect(await accountsThere()).toEqual([])
  },
)

test('accounts that waited for the deletion of their app are inserted if it is rolled back', async () => {
  await one.query('begin')
  await remove(one)
  const insertion = (client: Client) => insert(client, 'late')
  expect(await waitingFor(other, insertion, () => one.query('rollback'))).toBeNull()
  expect(await accountsThere()).toEqual(['late'])
})

// At another isolation level the trigger would not see these accounts; no host writes at one.
test('the deletion of an app includes accounts that were inserted concurrently', async () => {
  await other.query('begin')
  await other.query('select count(*) from apps')
  await one.query('begin')
  await insert(one, 'early')
  expect(await waitingFor(other, remove, () => one.query('commit'))).toBeNull()
  await other.query('commit')
  const { rows } = await one.query('select from apps where id = $1', [appId])
  expect([rows.length, await accountsThere()]).toEqual([0, []])
})

test('transactions that insert accounts of the same apps in different order do not block each other', async () => {
  const second = await newApp()
  const both = (client: Client, names: string[], order: string[]) =>
    client.query(
      `insert into accounts (${COLUMNS}) select $1, app, name, 'USER', 'ACTIVE'
      from unnest($2::uuid[], $3::text[]) as row(app, name)`,
      [domainId, order, names],
    )
  await one.query('begin')
  await both(one, ['a', 'b'], [appId, second])
  await other.query('begin')
  await both(other, ['c', 'd'], [second, appId])
  await other.query('commit')
  await one.query('commit')
  expect(await accountsThere()).toEqual(['a', 'd'])
})

test.each([
  ['that exists', () => [domainId, appId], null],
  ['that does not exist', () => [domainId, domainId], '23503'],
  ['of another domain', () => [appId, appId], '23503'],
])('COPY checks accounts of an app %s', async (_what, of, refused) => {
  const stream = one.query(copyFrom(`copy accounts (${COLUMNS}) from stdin`))
  const ended = once(stream, 'finish').then(
    () => null,
    (error: { code: string }) => error.code,
  )
  stream.end([...of(), 'copied', 'USER', 'ACTIVE'].join('\t'))
  expect(await ended).toBe(refused)
  expect(await accountsThere()).toEqual(refused === null ? ['copied'] : [])
})

test.each(['app_id', 'domain_id'])('an upsert cannot change %s', async (column) => {
  const wanted = (value: string) =>
    `on conflict (app_id, unique_identifier) do update set ${column} = '${value}', email = 'a'`
  await insert(one, 'one')
  const none = '00000000-0000-4000-8000-000000000009'
  await expect(insert(one, 'one', wanted(none))).rejects.toMatchObject({ code: '23503' })
  await insert(one, 'one', wanted(column === 'app_id' ? appId : domainId))
  const { rows } = await one.query('select email from accounts where app_id = $1', [appId])
  expect(rows).toEqual([{ email: 'a' }])
})
