import { readFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIGRATIONS } from '../../../../runtime/database/compatible.ts'
import { type CoreHost, domainOf, type Person, person, startCore } from '../../host.ts'

let core: CoreHost
let ada: Person
let auditor: Person
/** The number of log entries before the changes. */
let before: number

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'ada@example.com')
  auditor = await person(core.db, 'auditor@example.com', ['Auditor'])
  before = (await core.call('GET', '/activity_logs')).body.total
  for (const role of ['Auditor', 'App Admin', 'Vendor Owner']) {
    await core.call('POST', `/users/${ada.id}/roles/${encodeURIComponent(role)}`)
  }
})
afterAll(() => core.stop())

test('a change is logged with its actor, event, target and metadata', async () => {
  const { status, body } = await core.call('GET', '/activity_logs', { token: auditor.token })
  expect(status).toBe(200)
  const [first] = body.items.slice(before)
  expect(first).toMatchObject({
    event_type: 'USER_ROLE_ADDED',
    event_type_user_friendly: 'User role added',
    outcome: 'Succeeded',
    actor: { email: 'admin@localhost' },
    targets: [{ target_type: 'User', name: 'ada@example.com' }],
    event_metadata: { role: 'Auditor' },
  })
  expect(first.event_hash).toMatch(/^[0-9a-f]{128}$/)
  expect(first.event_began_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+$/)
})

test('a call that changes nothing is not logged', async () => {
  const total = (await core.call('GET', '/activity_logs')).body.total
  await core.call('POST', `/users/${ada.id}/roles/Auditor`)
  await core.call('DELETE', `/users/${ada.id}/roles/Admin`)
  expect((await core.call('GET', '/activity_logs')).body.total).toBe(total)
})

test('a reader who follows the relative links sees every entry once, and the links keep the filter', async () => {
  const seen: string[] = []
  let next: string | null = '/activity_logs?limit=1&since=2020-01-01'
  while (next !== null) {
    const { body } = await core.call('GET', next, { token: auditor.token })
    seen.push(...body.items.map(({ event_hash }: { event_hash: string }) => event_hash))
    next = body.links.next
    if (next) expect(next).toContain('since=2020-01-01')
  }
  expect(seen).toHaveLength(new Set(seen).size)
  expect(seen).toHaveLength((await core.call('GET', '/activity_logs')).body.total)
})

type Entry = { event_hash: string; event_began_at: string }
const read = async (query: string): Promise<Entry[]> =>
  (await core.call('GET', `/activity_logs?${query}`)).body.items
const hashes = (entries: readonly Entry[]) => entries.map((one) => one.event_hash)

/** Writes an entry with a clock that is an hour ahead, then runs `follow` with the correct clock. */
async function clockGoesBack(follow: () => Promise<unknown>): Promise<void> {
  const domain = await domainOf(core.db)
  await core.db.execute(sql`
    insert into activity_waiting (domain_id, body, began_at)
    select domain_id, '"' || domain_id || '","CLOCK_AHEAD","Succeeded",{"actor_type":"Lumos system","email":"","family_name":"","given_name":""},[],{}',
      date_trunc('milliseconds', clock_timestamp() + interval '1 hour')
    from (select ${domain}::uuid as domain_id) d`)
  await read('limit=1')
  await follow()
}

test('a reader by offset or by since misses nothing when the clock of the database goes back', async () => {
  const { total } = (await core.call('GET', '/activity_logs')).body
  await clockGoesBack(async () => {
    const [ahead] = await read(`offset=${total}`)
    expect(ahead).toMatchObject({ event_type: 'CLOCK_AHEAD' })
    await core.call('POST', `/users/${ada.id}/roles/Read%20Only%20Admin`)
    const newer = await read(`offset=${total + 1}`)
    expect(newer).toMatchObject([{ event_type: 'USER_ROLE_ADDED' }])
    expect((newer[0]?.event_began_at ?? '') < (ahead?.event_began_at ?? '')).toBe(true)
    const since = await read(`since=${ahead?.event_began_at}`)
    expect(hashes(since)).toEqual(hashes([...(ahead ? [ahead] : []), ...newer]))
    expect((await read('newest_first=true&limit=1'))[0]?.event_hash).toBe(newer[0]?.event_hash)
  })
})

test('the last time before the clock went back is recorded, by a migration too, and reads stay in order', async () => {
  const domain = await domainOf(core.db)
  const wait = (type: string, hours: number) =>
    core.db.execute(sql`
      insert into activity_waiting (domain_id, body, began_at)
      select domain_id, '"' || domain_id || '","' || ${type}::text || '","Succeeded",{"actor_type":"Lumos system","email":"","family_name":"","given_name":""},[],{}',
        date_trunc('milliseconds', clock_timestamp() + ${`${hours} hours`}::interval)
      from (select ${domain}::uuid as domain_id) d`)
  for (const [type, hours] of [
    ['AHEAD', 2],
    ['BACK', 0.5],
    ['LESS_AHEAD', 1],
    ['BACK_AGAIN', 0.6],
    ['BEYOND', 3],
    ['FURTHER', 4],
  ] as const)
    await wait(type, hours)
  const all = (await core.call('GET', '/activity_logs?newest_first=true')).body.items.reverse()
  const types = (entries: readonly { event_type: string }[]) => entries.map((one) => one.event_type)
  const [ahead, , less, , beyond] = all.slice(-6)
  const since = async (entry: Entry, more = '') =>
    types(
      (await core.call('GET', `/activity_logs?since=${entry.event_began_at}${more}`)).body.items,
    )
  expect(await since(ahead)).toEqual(types(all.slice(-6)))
  // A reader who stopped there has seen BACK, which precedes it.
  expect(await since(less)).toEqual(types([ahead, ...all.slice(-4)]))
  expect(await since(beyond)).toEqual(['BEYOND', 'FURTHER'])
  expect(await since(beyond, '&newest_first=true')).toEqual(['FURTHER', 'BEYOND'])
  expect(await since(beyond, '&offset=1')).toEqual(['FURTHER'])

  const owner = new Client(await core.login())
  await owner.connect()
  const turns = async () =>
    (await owner.query('select domain_id, began_at from activity_turns')).rows
  const noted = [{ domain_id: domain, began_at: new Date(`${ahead.event_began_at}Z`) }]
  expect(await turns()).toEqual(noted)
  await owner.query('delete from activity_turns')
  const migration = readFileSync(path.join(MIGRATIONS, '0062_log_turns.sql'), 'utf8')
  await owner.query(migration.split('--> statement-breakpoint').at(-1) ?? '')
  expect(await turns()).toEqual(noted)
  await owner.end()
})

test('people without the right to read logs cannot read the log', async () => {
  const nobody = await person(core.db, 'nobody@example.com')
  expect((await core.call('GET', '/activity_logs', { token: nobody.token })).status).toBe(403)
})

test.each(['2026-11-20', '2026-11-20T10:00:00', '2026-11-20T10:00:00Z', '1795166400'])(
  'since accepts the time %s',
  async (since) => {
    expect((await core.call('GET', `/activity_logs?since=${since}`)).status).toBe(200)
  },
)

test.each([
  'yesterday',
  '2026-13-45',
  '2026-02-31',
  '',
  // Beyond the range of the database.
  '999999999999',
  '-999999999999',
  '0000-01-01',
  '9999-12-31T23:59:59-01:00',
])('since refuses the time "%s"', async (since) => {
  const { status, body } = await core.call('GET', `/activity_logs?since=${since}`)
  expect(status).toBe(422)
  expect(body.detail[0].loc).toEqual(['query', 'since'])
})

test('GET /art is public and answers plain text', async () => {
  const { status, body, headers } = await core.call('GET', '/art', { token: null })
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: 200,
    type: expect.stringMatching(/^text\/plain/),
  })
  expect(body).toContain('Keyway')
})

test('GET /info is public', async () => {
  expect(await core.call('GET', '/info', { token: null })).toMatchObject({
    status: 200,
    body: { name: 'Keyway' },
  })
})
