import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { app, type CoreHost, domainOf, person, type Reply, startCore } from '../host.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

const AT_ONCE = 10

const made = (replies: Reply[]) => replies.filter(({ status }) => status < 300).length

/** Sends several bodies concurrently. */
const sendConcurrently = (path: string, body: (n: number) => object) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, n) => core.call('POST', path, { body: body(n) })))

test('concurrent delegations do not exceed the limit of one person', async () => {
  const ada = await person(core.db, 'ada@acme.example')
  const ben = await person(core.db, 'ben@acme.example')
  const beganMs = Date.now()
  // Each has another end, because the same delegation sent twice counts once.
  const one = (n: number) => {
    const until = new Date(beganMs + 86_400_000 + n * 60_000).toISOString()
    return { user_id: ada.id, delegate_id: ben.id, until }
  }
  for (let n = 0; n < 18; n += 1) await core.call('POST', '/delegations', { body: one(100 + n) })
  const replies = await sendConcurrently('/delegations', one)
  expect(made(replies)).toBe(2)
  expect(replies.find(({ status }) => status === 409)?.body.detail).toContain(
    'There are already 20 delegations',
  )
})

test('concurrent rules of separation do not exceed the limit', async () => {
  const domainId = await domainOf(core.db)
  await core.db.execute(sql`
    insert into separation_rules (domain_id, name, left_side, right_side)
    select ${domainId}, 'Rule ' || n, '{"apps":[],"permissions":[]}', '{"apps":[],"permissions":[]}'
    from generate_series(1, 498) n`)
  const [first, second] = [await app(core.db, 'Left'), await app(core.db, 'Right')]
  const replies = await sendConcurrently('/separation_of_duties', (n) => ({
    name: `At once ${n}`,
    left: { apps: [first] },
    right: { apps: [second] },
  }))
  expect(made(replies)).toBe(2)
  expect(replies.find(({ status }) => status === 409)?.body.detail).toContain(
    'There are already 500 rules',
  )
})
