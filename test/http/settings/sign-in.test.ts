import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTokenHasher } from '../../../runtime/core/kernel/identity/token-hasher.ts'
import { findSession } from '../../../runtime/core/sign-in/sessions.ts'
import { apiTokens, users } from '../../../runtime/database/schema/people.ts'
import { loginLinks, sessions } from '../../../runtime/database/schema/sessions.ts'
import { databaseTime } from '../../../runtime/database/transactions.ts'
import {
  ADMIN_TOKEN,
  type CoreHost,
  otherDomain,
  type Person,
  person,
  SECRET,
  startCore,
} from '../../core/host.ts'
import { type Sending, signedIn, visit } from './visitor.ts'

let core: CoreHost
let ada: Person

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'ada@example.com')
})
afterAll(() => core.stop())

const links = (body: unknown, options: object = {}) =>
  core.call('POST', '/operator/login-links', { body, ...options })

async function newCode(email = 'ada@example.com'): Promise<string> {
  const { body } = await links({ email })
  return body.path.split('#code=')[1]
}

async function tryWith(fields: Record<string, string>, sending: Sending = {}) {
  const visitor = visit(core)
  await visitor.get('/settings/sign-in')
  return { visitor, seen: await visitor.post('/settings/sign-in', fields, sending) }
}

const isIn = async (visitor: ReturnType<typeof visit>) =>
  (await visitor.get('/settings/api-tokens')).status === 200

/** A row with its bytes as text. */
const textOf = (row: { hash: Buffer }) => `${row.hash.toString('latin1')} ${JSON.stringify(row)}`

const past = new Date(Date.now() - 1000)

describe('a login link', () => {
  test('does not outlast the token that creates it, and neither does its session', async () => {
    const boss = await person(core.db, 'brief@example.com', ['Admin'])
    const end = new Date(Date.now() + 60_000)
    await core.db.update(apiTokens).set({ expiresAt: end }).where(eq(apiTokens.userId, boss.id))
    const one = await person(core.db, 'let-in@example.com')
    const { body } = await links({ email: 'let-in@example.com' }, { token: boss.token })
    expect(body.expires_at).toBe(end.toISOString())
    const { visitor } = await tryWith({ code: body.path.split('#code=')[1] })
    expect(await isIn(visitor)).toBe(true)
    const rows = await core.db.select().from(sessions).where(eq(sessions.userId, one.id))
    expect(rows.map(({ expiresAt }) => expiresAt.getTime())).toContain(end.getTime())
    await core.db.update(apiTokens).set({ expiresAt: past }).where(eq(apiTokens.userId, boss.id))
    expect(await isIn(visitor)).toBe(false)
  })

  test('is created by the operator, by default for the first admin', async () => {
    const { status, body } = await links({})
    expect(status).toBe(201)
    expect(body).toEqual({
      email: 'admin@localhost',
      path: expect.stringMatching(/^\/settings\/sign-in#code=kwl_[\w-]{43}$/),
      expires_at: expect.any(String),
    })
    const minutes = (Date.parse(body.expires_at) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(9.9)
    expect(minutes).toBeLessThanOrEqual(10)
  })

  test('signs in once', async () => {
    const code = await newCode()
    const { visitor, seen } = await tryWith({ code: ` ${code}\n` })
    expect(seen.status).toBe(303)
    expect(seen.headers.get('location')).toBe('/access')
    expect((await visitor.get('/settings/api-tokens')).text).toContain('ada@example.com')
    const again = await tryWith({ code })
    expect(again.seen.status).toBe(403)
    expect(again.seen.text).toContain('used already')
    expect(again.seen.text).not.toContain(code)
    expect(await isIn(again.visitor)).toBe(false)
  })

  test('leads operators to the console, and everyone to the page that they requested', async () => {
    const { seen } = await tryWith({ code: await newCode('admin@localhost') })
    expect(seen.headers.get('location')).toBe('/console')
    await person(core.db, 'app-admin@example.com', ['App Admin'])
    const other = await tryWith({ code: await newCode('app-admin@example.com') })
    expect(other.seen.headers.get('location')).toBe('/access')
    const wanted = await tryWith({ code: await newCode(), next: '/inbox?page=2' })
    expect(wanted.seen.headers.get('location')).toBe('/inbox?page=2')
  })

  test('that is used concurrently signs in only one visitor', async () => {
    const code = await newCode()
    const tries = await Promise.all(Array.from({ length: 8 }, () => tryWith({ code })))
    expect(tries.filter(({ seen }) => seen.status === 303)).toHaveLength(1)
  })

  test('is refused after it has expired', async () => {
    const code = await newCode()
    await core.db.update(loginLinks).set({ expiresAt: past })
    expect((await tryWith({ code })).seen.status).toBe(403)
  })

  test('is refused for a suspended person, and none is created for them', async () => {
    const { id } = await person(core.db, 'gone@example.com')
    const code = await newCode('GONE@example.com')
    await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, id))
    expect((await tryWith({ code })).seen.status).toBe(403)
    expect(await links({ email: 'gone@example.com' })).toMatchObject({
      status: 409,
      body: { error: { message: 'gone@example.com is SUSPENDED' } },
    })
  })

  test('is stored only as a hash, and is logged without its code', async () => {
    const code = await newCode()
    const rows = await core.db.select().from(loginLinks)
    expect(rows.map(textOf).join()).not.toContain(code)
    const { body } = await core.call('GET', '/activity_logs?limit=100')
    const made = body.items.filter((one: { event_type: string }) =>
      /LOGIN_LINK_CREATED/.test(one.event_type),
    )
    expect(made.at(-1)).toMatchObject({
      actor: { email: 'admin@localhost' },
      targets: [{ target_type: 'User', name: 'ada@example.com', id: ada.id }],
    })
    expect(JSON.stringify(body)).not.toContain(code)
  })

  test.each([
    ['an unknown user', { email: 'nobody@example.com' }, 404],
    ['an address with NUL', { email: 'a\u0000' }, 422],
    ['an address that is a number', { email: 5 }, 422],
    ['an address that is too long', { email: 'a'.repeat(400) }, 422],
    ['a list', [], 422],
  ])('is not created for %s', async (_what, body, status) => {
    expect((await links(body)).status).toBe(status)
  })

  test('is not created for a user of another domain', async () => {
    await person(core.db, 'stranger@example.com', [], await otherDomain(core.db))
    expect((await links({ email: 'stranger@example.com' })).status).toBe(404)
  })

  test('is created only by the operator, by POST, as JSON', async () => {
    expect((await links({}, { token: null })).status).toBe(401)
    expect((await links({}, { token: ada.token })).status).toBe(403)
    expect((await core.call('GET', '/operator/login-links')).status).toBe(405)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await links({}, { headers })).status).toBe(415)
  })
})

describe('signing in with a token', () => {
  test('creates a session of its user, and counts as a use of the token', async () => {
    const visitor = await signedIn(core, ada.token)
    const { text } = await visitor.get('/settings/api-tokens')
    expect(text).toContain('ada@example.com')
    expect(text).toContain('you are signed in with it')
    const [row] = await core.db.select().from(apiTokens).where(eq(apiTokens.userId, ada.id))
    expect(row?.lastUsedAt).toBeInstanceOf(Date)
  })

  test.each([
    ['that is unknown', `lsk_${'x'.repeat(43)}`],
    ['that is malformed', 'some-secret-of-mine'],
    ['with NUL', 'lsk_some\u0000secret'],
    ['with other characters', 'lsk_é😀'],
    ['that is too long', `lsk_${'x'.repeat(20_000)}`],
  ])('%s is refused on the page, and not repeated there', async (_what, token) => {
    const { visitor, seen } = await tryWith({ token })
    expect(seen.status).toBe(403)
    expect(seen.text).toContain('This token is unknown, revoked or expired')
    expect(seen.text).toContain('aria-invalid="true"')
    expect(seen.text).not.toContain(token.slice(0, 40))
    expect(await isIn(visitor)).toBe(false)
  })

  test('that is blank is answered 422', async () => {
    expect((await tryWith({ token: '  ' })).seen.status).toBe(422)
  })
})

describe('a session', () => {
  test('is an HttpOnly and SameSite cookie, and Secure behind TLS', async () => {
    const { visitor } = await tryWith({ token: ada.token })
    const line = visitor.set.find((one) => one.startsWith('keyway_session=')) ?? ''
    expect(line.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=28800',
      'Path=/',
      'SameSite=Lax',
    ])
    const headers = { 'x-forwarded-proto': 'https' }
    const secure = visit(core)
    await secure.get('/settings/sign-in', { headers })
    await secure.post('/settings/sign-in', { token: ada.token }, { headers })
    const secured = secure.set.find((one) => one.startsWith('__Host-keyway_session=')) ?? ''
    expect(secured.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=28800',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ])
  })

  test('is stored only as a hash', async () => {
    const visitor = await signedIn(core, ada.token)
    const secret = visitor.cookies.get('keyway_session') ?? ''
    expect(secret).toMatch(/^kws_/)
    const rows = await core.db.select().from(sessions)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.map(textOf).join()).not.toContain(secret)
  })

  test('survives a change of the secret while the former secret is listed', async () => {
    const visitor = await signedIn(core, ada.token)
    const secret = visitor.cookies.get('keyway_session') ?? ''
    const found = (secrets: string[]) => findSession(core.db, createTokenHasher(secrets), secret)
    expect(await found(['n'.repeat(32), SECRET])).toMatchObject({ email: 'ada@example.com' })
    expect(await found(['n'.repeat(32)])).toBeNull()
  })

  test('ends by signing out, also for a copy of the cookie', async () => {
    const visitor = await signedIn(core, ada.token)
    const copy = visitor.cookies.get('keyway_session') ?? ''
    const out = await visitor.post('/settings/sign-out')
    expect([out.status, out.headers.get('location')]).toEqual([303, '/settings/sign-in'])
    expect(visitor.cookies.has('keyway_session')).toBe(false)
    visitor.cookies.set('keyway_session', copy)
    expect(await isIn(visitor)).toBe(false)
  })

  test('ends when another one starts in the same browser', async () => {
    const visitor = await signedIn(core, ada.token)
    const former = visitor.cookies.get('keyway_session') ?? ''
    await visitor.get('/settings/sign-in')
    await visitor.post('/settings/sign-in', { token: ADMIN_TOKEN })
    expect((await visitor.get('/settings/api-tokens')).text).toContain('admin@localhost')
    visitor.cookies.set('keyway_session', former)
    expect(await isIn(visitor)).toBe(false)
  })

  test('is logged once when it ends, with its person', async () => {
    const ends = async (): Promise<unknown[]> => {
      const { items } = (await core.call('GET', '/activity_logs?event_type=USER_LOGOUT&limit=100'))
        .body
      return items.map(({ actor }: { actor: { email: string } }) => actor.email)
    }
    const before = await ends()
    const visitor = await signedIn(core, ada.token)
    await visitor.get('/settings/sign-in')
    await visitor.post('/settings/sign-in', { token: ADMIN_TOKEN })
    expect(await ends()).toEqual([...before, 'ada@example.com'])
    const copy = visitor.cookies.get('keyway_session') ?? ''
    await visitor.get('/settings/api-tokens')
    await visitor.post('/settings/sign-out')
    expect(await ends()).toEqual([...before, 'ada@example.com', 'admin@localhost'])
    visitor.cookies.set('keyway_session', copy)
    await visitor.post('/settings/sign-out')
    expect(await ends()).toHaveLength(before.length + 2)
  })

  test('ends after eight hours', async () => {
    const visitor = await signedIn(core, ada.token)
    const [row] = await core.db.select().from(sessions).where(eq(sessions.userId, ada.id))
    const hours = ((row?.expiresAt.getTime() ?? 0) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(7.9)
    expect(hours).toBeLessThanOrEqual(8)
    await core.db.update(sessions).set({ expiresAt: past }).where(eq(sessions.userId, ada.id))
    expect(await isIn(visitor)).toBe(false)
  })

  test('ends when its user is suspended', async () => {
    const one = await person(core.db, 'soon-gone@example.com')
    const visitor = await signedIn(core, one.token)
    await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, one.id))
    const seen = await visitor.get('/settings/api-tokens')
    expect([seen.status, seen.headers.get('location')]).toEqual([303, '/settings/sign-in'])
  })

  test.each([
    ['revoked', { revokedAt: past }],
    ['expired', { expiresAt: past }],
  ])('ends when its token is %s', async (what, end) => {
    const one = await person(core.db, `${what}@example.com`)
    const visitor = await signedIn(core, one.token)
    await core.db.update(apiTokens).set(end).where(eq(apiTokens.userId, one.id))
    expect(await isIn(visitor)).toBe(false)
  })

  test('shows the current roles', async () => {
    const visitor = await signedIn(core, ada.token)
    await core.call('POST', `/users/${ada.id}/roles/Auditor`)
    expect((await visitor.get('/settings/api-tokens')).text).toContain('Roles: Auditor')
    await core.call('DELETE', `/users/${ada.id}/roles/Auditor`)
    expect((await visitor.get('/settings/api-tokens')).text).not.toContain('Auditor')
  })
})

describe('a sign-in form', () => {
  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of another port of this machine', { 'sec-fetch-site': 'same-site' }, 403],
    ['of another origin', { origin: 'https://evil.example' }, 403],
    ['of another port, by its origin', { origin: 'http://localhost:8090' }, 403],
    ['of our own page', { 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
    ['of our own origin', { origin: 'http://localhost' }, 303],
    ['of a page without an origin', { origin: 'null' }, 303],
  ])('%s, with the headers %j, is answered %i', async (_what, headers, status) => {
    const { seen } = await tryWith({ token: ada.token }, { headers })
    expect(seen.status).toBe(status)
  })

  test('without the cookie of its page is refused', async () => {
    const visitor = visit(core)
    await visitor.get('/settings/sign-in')
    visitor.cookies.clear()
    const seen = await visitor.post('/settings/sign-in', { token: ada.token })
    expect(seen.status).toBe(403)
    expect(visitor.cookies.has('keyway_session')).toBe(false)
    // The answer contains a form that works.
    expect((await visitor.post('/settings/sign-in', { token: ada.token })).status).toBe(303)
  })

  test('with the proof of another visitor is refused', async () => {
    const visitor = visit(core)
    await visitor.get('/settings/sign-in')
    visitor.cookies.set('keyway_visitor', 'another-visitor-altogether')
    expect((await visitor.post('/settings/sign-in', { token: ada.token })).status).toBe(403)
  })

  test('may be sent 20 times a minute from one address', async () => {
    const from = '203.0.113.7'
    const visitor = visit(core)
    await visitor.get('/settings/sign-in')
    const statuses: number[] = []
    for (let tries = 0; tries < 21; tries += 1)
      statuses.push((await visitor.post('/settings/sign-in', { code: 'x' }, { from })).status)
    expect(statuses).toEqual([...Array(20).fill(403), 429])
    const last = await visitor.post('/settings/sign-in', { token: ada.token }, { from })
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    const other = await visitor.post('/settings/sign-in', { token: ada.token })
    expect(other.status).toBe(303)
  })

  test('that is refused before its secret is checked does not count as an attempt', async () => {
    const from = '203.0.113.8'
    const visitor = visit(core)
    await visitor.get('/settings/sign-in')
    const cheap: [Record<string, string>, Sending][] = [
      [{ proof: 'none' }, { from }],
      [{ code: '', token: '' }, { from }],
      [{ code: 'x' }, { from, headers: { 'sec-fetch-site': 'cross-site' } }],
      [{}, { from, raw: 'code=x&token=y' }],
    ]
    for (let tries = 0; tries < 40; tries += 1) {
      const [fields, sending] = cheap[tries % cheap.length] ?? [{}, {}]
      expect([403, 422]).toContain(
        (await visitor.post('/settings/sign-in', fields, sending)).status,
      )
    }
    const seen = await visitor.post('/settings/sign-in', { token: ada.token }, { from })
    expect(seen.status).toBe(303)
  })

  test('from an untrusted proxy counts for the address of the proxy', async () => {
    const visitor = visit(core)
    await visitor.get('/settings/sign-in')
    const from = '203.0.113.10'
    const statuses: number[] = []
    for (let tries = 0; tries < 21; tries += 1) {
      const headers = { 'x-forwarded-for': `198.51.100.${tries}` }
      statuses.push(
        (await visitor.post('/settings/sign-in', { code: 'x' }, { from, headers })).status,
      )
    }
    expect(statuses.at(-1)).toBe(429)
  })

  test('counts an IPv6 network as one address', async () => {
    const visitor = visit(core)
    await visitor.get('/settings/sign-in')
    const statuses: number[] = []
    for (let tries = 0; tries < 21; tries += 1) {
      const from = `2001:db8:1:2::${tries.toString(16)}`
      statuses.push((await visitor.post('/settings/sign-in', { code: 'x' }, { from })).status)
    }
    expect(statuses.at(-1)).toBe(429)
  })
})

describe.each([
  ['a day ahead', 86_400_000],
  ['an hour behind', -3_600_000],
  ['a day behind', -86_400_000],
])('with the clock of the host %s, the clock of the database decides', (_name, offMs) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offMs })
  })
  afterEach(() => void vi.useRealTimers())
  const MINUTE_MS = 60_000
  const from = async (ms: number): Promise<Date> =>
    new Date((await databaseTime(core.db)).getTime() + ms)

  test('when a token expires', async () => {
    const one = await person(core.db, `clock${offMs}@example.com`)
    const who = async () => (await core.call('GET', '/users/current', { token: one.token })).status
    const endsAt = async (expiresAt: Date) =>
      core.db.update(apiTokens).set({ expiresAt }).where(eq(apiTokens.userId, one.id))
    await endsAt(await from(30 * MINUTE_MS))
    expect(await who()).toBe(200)
    await endsAt(await from(-MINUTE_MS))
    expect(await who()).toBe(401)
  })

  test('when a link and a session expire, and when a token was used', async () => {
    const one = await person(core.db, `link${offMs}@example.com`)
    const { body } = await links({ email: `link${offMs}@example.com` })
    const endMs = Date.parse(body.expires_at) - (await from(0)).getTime()
    expect(endMs).toBeGreaterThan(8 * MINUTE_MS)
    expect(endMs).toBeLessThanOrEqual(10 * MINUTE_MS)
    const { visitor } = await tryWith({ code: body.path.split('#code=')[1] })
    expect(await isIn(visitor)).toBe(true)
    const [session] = await core.db.select().from(sessions).where(eq(sessions.userId, one.id))
    expect(session?.expiresAt.getTime()).toBeLessThanOrEqual(
      (await from(8 * 60 * MINUTE_MS)).getTime(),
    )
    await core.db.update(loginLinks).set({ expiresAt: await from(-MINUTE_MS) })
    const late = await newCode(`link${offMs}@example.com`)
    await core.db.update(loginLinks).set({ expiresAt: await from(-MINUTE_MS) })
    expect(await isIn((await tryWith({ code: late })).visitor)).toBe(false)
    await core.call('GET', '/users/current', { token: one.token })
    // The use is recorded after the answer.
    await vi.waitFor(async () => {
      const [token] = await core.db.select().from(apiTokens).where(eq(apiTokens.userId, one.id))
      const usedMs = (await from(0)).getTime() - (token?.lastUsedAt?.getTime() ?? 0)
      expect(Math.abs(usedMs)).toBeLessThan(2 * MINUTE_MS)
    }, 10_000)
  })
})
