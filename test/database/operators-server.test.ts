/** A server of the operator, where the login has fewer rights and other users have created objects. */
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../runtime/database/open.ts'
import { isDatabaseUnavailable } from '../../runtime/database/unavailable.ts'
import { type CoreHost, startCore } from '../core/host.ts'
import { shows } from '../symptoms.ts'

let core: CoreHost
let owner: Client

beforeAll(async () => {
  core = await startCore({}, { server: 'own' })
  owner = new Client(await core.login())
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await core.stop()
})

/** Creates a login with its own database. */
async function urlOf(name: string): Promise<string> {
  await owner.query(`create role ${name} login password 'secret'`)
  await owner.query(`create database ${name}`)
  const { host } = await core.login()
  return `postgres://${name}:secret@localhost/${name}?host=${encodeURIComponent(String(host))}`
}

/** Runs statements as the server's administrator in another database. */
async function inside(database: string, ...statements: string[]): Promise<void> {
  const client = new Client({ ...(await core.login()), database })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const open = (url: string, said: string[] = []) =>
  openDatabase(
    { connectionString: url },
    () => {},
    (text) => said.push(text),
  )

test('a login that may not create schemas is refused with the grants that it needs', async () => {
  const url = await urlOf('narrow')
  await expect(open(url)).rejects.toThrow(
    /DATABASE_URL: .*: grant create on database narrow to narrow; grant create on schema public to narrow;$/,
  )
  await inside(
    'narrow',
    'grant create on database narrow to narrow',
    'grant create on schema public to narrow',
  )
  await (await open(url)).close()
})

test.each([
  ['a database that accepts no connections', 'alter database closed allow_connections false'],
  ['a role that may no longer log in', 'alter role closed nologin'],
  ['a changed password', `alter role closed password 'another'`],
  ['a dropped database', 'drop database closed'],
])('%s counts as an unavailable database', async (_, statement) => {
  const url = await urlOf('closed')
  await owner.query(statement)
  const error = await open(url).catch((thrown: Error) => thrown)
  expect({ error: String(error), away: isDatabaseUnavailable(error) }).toMatchObject({ away: true })
  await owner.query('drop database if exists closed')
  await owner.query('drop role closed')
})

test("another owner's tables in a schema named jobs stay inaccessible, and the less privileged role is used", async () => {
  const url = await urlOf('crowded')
  await inside(
    'crowded',
    'alter database crowded owner to crowded',
    'grant all on schema public to crowded',
    'create schema jobs',
    'grant all on schema jobs to crowded with grant option',
    'create table jobs.theirs (n int)',
    'grant keyway_app to crowded with inherit true',
  )
  const messages: string[] = []
  const database = await open(url, messages)
  try {
    const { rows } = await database.db.execute(sql`select current_user as who,
      has_table_privilege('jobs.theirs', 'select') as theirs,
      has_table_privilege('jobs.job', 'insert') as ours`)
    expect(rows).toEqual([{ who: 'keyway_app', theirs: false, ours: true }])
    expect(messages).toEqual([])
  } finally {
    await database.close()
  }
})

test.each(['LATIN1', 'SQL_ASCII'])(
  'a database encoded in %s is refused with the statement that creates a suitable one',
  async (encoding) => {
    const name = `in "${encoding}"`
    const id = owner.escapeIdentifier(name)
    await owner.query(`create database ${id} encoding '${encoding}' locale 'C' template template0`)
    const { host, password } = await core.login()
    const url = (database: string) =>
      `postgres://keyway:${password}@localhost/${encodeURIComponent(database)}?host=${encodeURIComponent(String(host))}`
    const error: Error = await open(url(name)).then(
      () => new Error('the database was accepted'),
      (thrown) => thrown,
    )
    expect(error.message).toContain(encoding)
    shows('a start is refused: “does not hold', error.message)
    const [, statement = '', made = ''] =
      /`(create database "(.+)" [^`]*)`/.exec(error.message) ?? []
    await owner.query(statement)
    const database = await open(url(made.replaceAll('""', '"')))
    const { rows } = await database.db.execute(sql`select '한 Ω' as text`)
    expect(rows).toEqual([{ text: '한 Ω' }])
    await database.close()
  },
)
