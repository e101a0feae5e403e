/** Signing in with a real provider: accepted and refused people, and the messages. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { desc, eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { userRoles, users } from '../../../runtime/database/schema/people.ts'
import { sessions } from '../../../runtime/database/schema/sessions.ts'
import { type CoreHost, domainOf, person, startCore } from '../../core/host.ts'
import { lastEvents } from '../../core/store.ts'
import { control, type Oidc, type Walk, walk } from '../../real-systems/oidc-person.ts'
import { missing, type RealSystem, startSystem } from '../../real-systems/start.ts'
import { type Visitor, visit } from '../settings/visitor.ts'

const absent = missing()

describe.skipIf(absent !== null)(`signing in by a provider${absent ? ` (${absent})` : ''}`, () => {
  let system: RealSystem & Oidc
  let core: CoreHost
  let folder: string

  beforeAll(async () => {
    const back = ['acme', 'open', 'other'].map((id) => `http://localhost/sign-in/${id}/callback`)
    system = (await startSystem('oidc', {
      REDIRECT_URIS: back.join(','),
      LOGOUT_URIS: 'http://localhost/',
    })) as RealSystem & Oidc
    folder = mkdtempSync(path.join(tmpdir(), 'keyway-sign-in-'))
    writeFileSync(path.join(folder, 'secret'), 'keyway-secret\n')
    const acme = {
      ...{ id: 'acme', name: 'Acme', issuer: system.issuer, client_id: 'keyway' },
      client_secret_file: 'secret',
      scopes: ['openid', 'profile', 'email', 'groups'],
      roles: [{ group: 'keyway-admins', role: 'Auditor' }],
    }
    const gone = { ...acme, id: 'gone', issuer: 'http://127.0.0.1:9' }
    const open = { ...acme, id: 'open', unknown_people: 'make', roles: [] }
    const other = { ...open, id: 'other', person_claim: 'preferred_username' }
    const file = path.join(folder, 'providers.json')
    writeFileSync(file, JSON.stringify([acme, open, other, gone]))
    const { host } = new URL(system.issuer)
    core = await startCore({
      KEYWAY_SIGN_IN: file,
      KEYWAY_PRIVATE_EGRESS: `sign-in=${host} sign-in=127.0.0.1:9`,
    })
    await person(core.db, 'Alice@Example.test')
    await person(core.db, 'bob@example.test')
  })
  afterEach(() => control(system.issuer, { fault: null, skew: 0 }))
  afterAll(async () => {
    await core?.stop()
    await system?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const pathOf = (url: string): string => {
    const { pathname, search } = new URL(url)
    return `${pathname}${search}`
  }

  /** Signs in, from the button to the answer of the callback. */
  async function signIn(
    who: Walk = {},
    {
      id = 'acme',
      query = '',
      visitor = visit(core),
    }: {
      id?: string
      query?: string
      visitor?: Visitor
    } = {},
  ) {
    const begun = await visitor.get(`/sign-in/${id}${query}`)
    expect(begun.status).toBe(302)
    const back = await walk(begun.headers.get('location') ?? '', who)
    const seen = await visitor.get(pathOf(back))
    return { visitor, back: pathOf(back), seen }
  }

  const isIn = async (visitor: Visitor) => (await visitor.get('/access')).status === 200

  test('the sign-in page links to the provider, and the callback redirects to the requested page', async () => {
    const { text } = await visit(core).get('/settings/sign-in?next=%2Finbox')
    expect(text).toContain('href="/sign-in/acme?next=%2Finbox"')
    const { visitor, seen } = await signIn({}, { query: '?next=%2Finbox' })
    expect([seen.status, seen.headers.get('location')]).toEqual([303, '/inbox'])
    const line = visitor.set.find((one) => one.startsWith('keyway_session=')) ?? ''
    expect(line).toContain('SameSite=Lax')
    expect(await isIn(visitor)).toBe(true)
  })

  test('sends state, nonce and a PKCE challenge', async () => {
    const begun = await visit(core).get('/sign-in/acme')
    const query = new URL(begun.headers.get('location') ?? '').searchParams
    expect(query.get('code_challenge_method')).toBe('S256')
    expect(query.get('state')).toMatch(/^[\w-]{43}$/)
    expect(query.get('nonce')).toMatch(/^[\w-]{43}$/)
  })

  test('signs a person in by the verified address, ignoring case, with a new session each time', async () => {
    const one = await signIn()
    const former = one.visitor.cookies.get('keyway_session')
    await signIn({}, { visitor: one.visitor })
    expect(one.visitor.cookies.get('keyway_session')).not.toBe(former)
    const page = await one.visitor.get('/access')
    expect(page.text).toContain('Alice@Example.test')
  })

  test('redirects only to pages of this host', async () => {
    const { seen } = await signIn({}, { query: `?next=${encodeURIComponent('//evil.example')}` })
    expect(seen.headers.get('location')).toBe('/')
  })

  test('gives the roles that the table of groups names; a failed sign-in takes none away', async () => {
    const [alice] = await core.db.select().from(users).where(eq(users.email, 'Alice@Example.test'))
    const userId = alice?.id ?? ''
    const domainId = await domainOf(core.db)
    await core.db.insert(userRoles).values({ domainId, userId, role: 'App Admin' })
    await signIn()
    const rolesOf = async () =>
      (await core.db.select().from(userRoles).where(eq(userRoles.userId, userId)))
        .map(({ role }) => role)
        .sort()
    expect(await rolesOf()).toEqual(['App Admin', 'Auditor'])
    const [bob] = await core.db.select().from(users).where(eq(users.email, 'bob@example.test'))
    await core.db.insert(userRoles).values({ domainId, userId: bob?.id ?? '', role: 'Auditor' })
    await signIn({ user: 'bob' }, { id: 'acme' })
    // The sign-in failed, so no role was taken away.
    const [held] = await core.db
      .select()
      .from(userRoles)
      .where(eq(userRoles.userId, bob?.id ?? ''))
    expect(held?.role).toBe('Auditor')
  })

  test.each([
    ['an address that is not verified', { user: 'bob' }, 'Your address is not verified'],
    ['no address', { user: 'dora' }, 'Your address is not known'],
    ['an account that the provider has locked', { user: 'carol' }, 'You are not signed in'],
    ['a cancelled login', { cancel: 'login' }, 'You are not signed in'],
    ['a refused consent', { user: 'alice', cancel: 'consent' }, 'You are not signed in'],
  ] as const)('refuses sign-in with %s', async (_what, who, words) => {
    const { visitor, seen } = await signIn(who)
    expect([seen.status, seen.text.includes(words)]).toEqual([403, true])
    expect(await isIn(visitor)).toBe(false)
  })

  test('refuses sign-in to unknown and to suspended people', async () => {
    await core.db
      .update(users)
      .set({ email: 'gone@example.test' })
      .where(eq(users.email, 'Alice@Example.test'))
    expect((await signIn()).seen.text).toContain('You are not in the directory yet')
    await core.db
      .update(users)
      .set({ email: 'Alice@Example.test', status: 'SUSPENDED' })
      .where(eq(users.email, 'gone@example.test'))
    expect((await signIn()).seen.text).toContain('Your account is suspended')
    await core.db
      .update(users)
      .set({ status: 'ACTIVE' })
      .where(eq(users.email, 'Alice@Example.test'))
  })

  test('creates people if the provider may, and logs it', async () => {
    await core.db
      .update(users)
      .set({ email: 'old@example.test' })
      .where(eq(users.email, 'Alice@Example.test'))
    const { visitor } = await signIn({}, { id: 'open' })
    expect(await isIn(visitor)).toBe(true)
    expect((await lastEvents(core, 5)).map(([event]) => event)).toContain('USER_CREATED')
    const [made] = await core.db.select().from(users).where(eq(users.email, 'alice@example.test'))
    expect([made?.givenName, made?.familyName]).toEqual(['Alice', 'Admin'])
  })

  test('uses another claim as the address only if it is an address', async () => {
    expect((await signIn({}, { id: 'other' })).seen.text).toContain('Your address is not known')
  })

  test.each(['aud', 'iss', 'nonce', 'sub', 'expired', 'signature', 'none'])(
    'refuses an ID token with the fault %s',
    async (fault) => {
      await control(system.issuer, { fault })
      const { visitor, seen } = await signIn({}, { id: 'open' })
      expect([seen.status, seen.text.includes('does not hold')]).toEqual([403, true])
      expect(await isIn(visitor)).toBe(false)
      expect(core.lines.join('\n')).not.toContain('keyway-secret')
    },
  )

  test('accepts sign-ins after the provider has changed its keys', async () => {
    for (const keys of ['rotate', 'replace']) {
      const { visitor } = await signIn({}, { id: 'open' })
      expect(await isIn(visitor), keys).toBe(true)
      await control(system.issuer, { keys })
    }
    const { visitor } = await signIn({}, { id: 'open' })
    expect(await isIn(visitor)).toBe(true)
  })

  test.each(['server_error'])('reports that the provider is unavailable: %s', async (fault) => {
    await control(system.issuer, { fault })
    const { seen } = await signIn({}, { id: 'open' })
    expect([seen.status, seen.text.includes('does not answer')]).toEqual([503, true])
  })

  test('reports that the provider cannot be reached', async () => {
    const seen = await visit(core).get('/sign-in/gone')
    expect([seen.status, seen.text.includes('does not answer')]).toEqual([503, true])
  })

  describe('the callback', () => {
    test('is accepted once', async () => {
      const { visitor, back } = await signIn({}, { id: 'open' })
      const again = await visitor.get(back)
      expect([again.status, again.text.includes('This sign-in is over')]).toEqual([400, true])
    })

    test('is accepted only from the browser that started the sign-in', async () => {
      const { back } = await signIn({}, { id: 'open' })
      expect((await visit(core).get(back)).status).toBe(400)
    })

    test('is refused with the state of an earlier sign-in', async () => {
      const visitor = visit(core)
      const first = await visitor.get('/sign-in/open')
      const back = await walk(first.headers.get('location') ?? '')
      await visitor.get('/sign-in/open')
      const seen = await visitor.get(pathOf(back))
      expect(seen.status).toBe(403)
      expect(await isIn(visitor)).toBe(false)
    })

    test('is refused at another provider, and an unknown provider is answered 404', async () => {
      const visitor = visit(core)
      const first = await visitor.get('/sign-in/open')
      const back = await walk(first.headers.get('location') ?? '')
      const elsewhere = pathOf(back).replace('/open/', '/acme/')
      expect((await visitor.get(elsewhere)).status).toBe(400)
      expect((await visitor.get('/sign-in/nobody')).status).toBe(404)
    })

    test('is refused with a forged cookie', async () => {
      const visitor = visit(core)
      visitor.cookies.set('keyway_sign_in', 'x'.repeat(200))
      expect((await visitor.get('/sign-in/open/callback?code=x&state=y')).status).toBe(400)
    })
  })

  test('signing out leads to the logout of the provider, too', async () => {
    const { visitor } = await signIn({}, { id: 'open' })
    await visitor.get('/access')
    const { status, text } = await visitor.post('/sign-out')
    expect(status).toBe(200)
    expect(text).toContain(`${system.issuer}/session/end?client_id=keyway`)
    expect(await isIn(visitor)).toBe(false)
  })

  test('a session ends once its provider is removed from the settings', async () => {
    const { visitor } = await signIn({}, { id: 'open' })
    expect(await isIn(visitor)).toBe(true)
    // The state after a restart without the provider.
    await core.db.update(sessions).set({ provider: 'taken-out' })
    expect(await isIn(visitor)).toBe(false)
  })

  test('a session ends after an hour without use, and when it expires', async () => {
    const { visitor } = await signIn({}, { id: 'open' })
    const hours = (count: number) => new Date(Date.now() - count * 3_600_000)
    await core.db.update(sessions).set({ usedAt: hours(0.9) })
    expect(await isIn(visitor)).toBe(true)
    const [row] = await core.db.select().from(sessions).orderBy(desc(sessions.usedAt)).limit(1)
    expect(row?.usedAt.getTime()).toBeGreaterThan(hours(0.5).getTime())
    await core.db.update(sessions).set({ usedAt: hours(1.1) })
    expect(await isIn(visitor)).toBe(false)

    const late = (await signIn({}, { id: 'open' })).visitor
    await core.db.update(sessions).set({ expiresAt: hours(0.01) })
    expect(await isIn(late)).toBe(false)
  })
})
