/** Access tokens of connected apps are renewed once, before they expire; failures are reported. */

import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openConnection } from '../../../../runtime/core/catalogue/apps/connections.ts'
import { RENEWAL_JOB } from '../../../../runtime/core/catalogue/apps/renewal-job.ts'
import { appOutages, apps, tokenRenewals } from '../../../../runtime/database/schema/apps.ts'
import { CONSENT_SECONDS } from '../../../../runtime/http/frame/cookies.ts'
import { until } from '../../../e2e/until.ts'
import { signedIn, type Visitor } from '../../../http/settings/visitor.ts'
import { type CoreHost, logged, person, startCore } from '../../host.ts'

type Asked = Record<string, string>

/** An authorization server that rotates refresh tokens, and refuses all requests after one is reused. */
async function startServer() {
  const asked: Asked[] = []
  const usedTokens = new Set<string>()
  const state = { expiresIn: 3600 as number | undefined, broken: false, reused: false, made: 0 }
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = Object.fromEntries(new URLSearchParams(String(Buffer.concat(chunks))))
    asked.push(form)
    reply.setHeader('content-type', 'application/json')
    const { refresh_token } = form
    if (refresh_token !== undefined && usedTokens.has(refresh_token)) state.reused = true
    if (state.broken || state.reused) {
      reply.statusCode = 400
      // Some servers echo what they were sent.
      const error_description = `${refresh_token} of ${form['client_secret']} is not known`
      return void reply.end(JSON.stringify({ error: 'invalid_grant', error_description }))
    }
    if (refresh_token !== undefined) usedTokens.add(refresh_token)
    state.made += 1
    const { made, expiresIn } = state
    const isConsent = form['grant_type'] === 'authorization_code'
    reply.end(
      JSON.stringify({
        access_token: `access-${made}-aaaaaaaa`,
        token_type: 'bearer',
        ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
        ...(refresh_token === undefined && !isConsent
          ? {}
          : { refresh_token: `refresh-${made}-aaaaaaaa` }),
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => new Promise((resolve) => server.close(resolve))
  return { host, asked, state, spent: usedTokens, close }
}

const connector = (id: string, kind: string, flow: string) => ({
  'connector.json': JSON.stringify({
    id,
    version: '1.0.0',
    runtime: '^1.0.0',
    authentication_schema: { kind },
    settings: { server: { type: 'string', format: 'url', required: true } },
    egress: [{ url: '{settings.server}/Users' }],
    capabilities: { list_accounts: {} },
    oauth: {
      ...(flow === 'CODE_FLOW' ? { authorization_url: '{settings.server}/auth' } : { flow }),
      token_url: '{settings.server}/token',
    },
  }),
  'connector.ts': `import { defineConnector, paged } from 'keyway/sdk'
export default defineConnector({ async list_accounts() { return paged([]) } })`,
})

let server: Awaited<ReturnType<typeof startServer>>
let plugins: string
let core: CoreHost

beforeAll(async () => {
  server = await startServer()
  plugins = await mkdtemp(path.join(tmpdir(), 'keyway-renewal-'))
  for (const [id, kind, flow] of [
    ['person', 'oauth', 'CODE_FLOW'],
    ['machine', 'oauth_client_credentials', 'CLIENT_CREDENTIALS'],
  ] as const) {
    await mkdir(path.join(plugins, id))
    for (const [name, text] of Object.entries(connector(id, kind, flow)))
      await writeFile(path.join(plugins, id, name), text)
  }
  core = await startCore({
    KEYWAY_DROP_IN: 'open',
    KEYWAY_PLUGINS_DIR: plugins,
    KEYWAY_PRIVATE_EGRESS: `person=${server.host} machine=${server.host}`,
  })
  await core.host.settled
})
afterAll(async () => {
  await core.stop()
  await server.close()
  await rm(plugins, { recursive: true, force: true })
})
beforeEach(async () => {
  await core.db.delete(apps)
  Object.assign(server.state, { expiresIn: 3600, broken: false, reused: false })
  server.asked.length = 0
  server.spent.clear()
})

const CLIENT = { client_id: 'keyway', client_secret: 'secret-of-the-client' }
/** Renewal credentials; unique, because a reply is reused for identical calls that follow shortly. */
const renewed = () => ({ refresh_token: `${randomUUID()}-aaaaaaaa`, ...CLIENT })

async function connect(app_class_id: string, auth: object): Promise<string> {
  const settings = { server: `http://${server.host}` }
  const made = await core.call('POST', '/apps', { body: { app_class_id, auth, settings } })
  expect([made.status, made.body]).toMatchObject([200, { app_class_id }])
  return made.body.id
}

const rowOf = async (id: string) => {
  const [row] = await core.db.select().from(apps).where(eq(apps.id, id))
  return row as typeof apps.$inferSelect
}
const kept = async (id: string) => openConnection(core.host.parts.vault, await rowOf(id))
const plan = async (id: string) => {
  const [row] = await core.db
    .select({
      seconds: sql<string | null>`extract(epoch from renew_at - clock_timestamp())`,
      attempts: tokenRenewals.attempts,
    })
    .from(tokenRenewals)
    .where(eq(tokenRenewals.appId, id))
  return row && { attempts: row.attempts, seconds: row.seconds && Number(row.seconds) }
}
const dueNow = (id: string) =>
  core.db.update(tokenRenewals).set({ renewAt: sql`now()` }).where(eq(tokenRenewals.appId, id))
const accessToken = async (id: string) => {
  const { auth } = await kept(id)
  return (auth?.oauth ?? auth?.oauth_client_credentials)?.access_token
}

test('a token without a known expiry is renewed at once, and then before it expires', async () => {
  const given = renewed()
  const id = await connect('person', { access_token: 'access-0-aaaaaaaa', ...given })
  await until(
    'the access token is renewed',
    async () => (await accessToken(id)) !== 'access-0-aaaaaaaa',
  )
  expect(server.asked).toEqual([{ grant_type: 'refresh_token', ...given }])
  await until('the next renewal is planned', async () => Number((await plan(id))?.seconds) > 60)
  expect((await plan(id))?.seconds).toBeLessThanOrEqual(3000)
  await dueNow(id)
  await until('the access token is renewed again', () => server.asked.length === 2)
  await until('the second renewal is stored', async () => Number((await plan(id))?.seconds) > 60)
  expect(server.asked[1]?.['refresh_token']).toBe('refresh-1-aaaaaaaa')
  expect(await kept(id)).toMatchObject({
    auth: { oauth: { access_token: 'access-2-aaaaaaaa' } },
    renewals: { '': { refresh_token: 'refresh-2-aaaaaaaa', ...CLIENT } },
  })
  expect(core.lines.join()).not.toMatch(/aaaaaaaa|secret-of-the-client/)
})

test('renewing a token ends the pause of an app whose token was refused', async () => {
  const id = await connect('person', { access_token: 'a', expires_in: 7200, ...renewed() })
  const { domainId } = await rowOf(id)
  const [refused] = await core.db
    .insert(appOutages)
    .values({
      ...{ appId: id, domainId, code: 'authentication_expired', problem: 'The token has expired.' },
      ...{ since: sql`now()`, until: sql`now() + interval '30 minutes'` },
    })
    .returning()
  await dueNow(id)
  await until('the app is called at once', async () => {
    const [outage] = await core.db.select().from(appOutages).where(eq(appOutages.appId, id))
    return outage === undefined || outage.until < (refused?.until ?? new Date(0))
  })
  expect(await accessToken(id)).not.toBe('a')
})

test('a token that is valid for some time is not renewed yet', async () => {
  const id = await connect('person', { access_token: 'a', expires_in: 7200, ...renewed() })
  expect((await plan(id))?.seconds).toBeGreaterThan(6000)
  expect((await kept(id)).auth).toEqual({ oauth: { access_token: 'a' } })
})

test('client credentials suffice for renewal if the connector supports that flow', async () => {
  const auth = { access_token: 'access-0-aaaaaaaa', scopes: ['read'], ...CLIENT }
  const id = await connect('machine', auth)
  await until(
    'the access token is renewed',
    async () => (await accessToken(id)) !== 'access-0-aaaaaaaa',
  )
  expect(server.asked).toEqual([{ grant_type: 'client_credentials', scope: 'read', ...CLIENT }])
  expect((await kept(id)).auth?.oauth_client_credentials).toMatchObject({ scopes: ['read'] })
})

test.each([
  ['client credentials', { refresh_token: 'refresh-0-aaaaaaaa' }],
  ['a refresh token', CLIENT],
])('a connection without %s has no renewal schedule', async (_, given) => {
  const id = await connect('person', { access_token: 'a', ...given })
  expect(await plan(id)).toBeUndefined()
})

test('two hosts use a refresh token only once', async () => {
  const id = await connect('person', { access_token: 'a', expires_in: 7200, ...renewed() })
  const other = await startCore({
    KEYWAY_DROP_IN: 'open',
    KEYWAY_PLUGINS_DIR: plugins,
    KEYWAY_PRIVATE_EGRESS: `person=${server.host} machine=${server.host}`,
    DATABASE_URL: await core.url(),
  })
  try {
    await other.host.settled
    await dueNow(id)
    const signal = new AbortController().signal
    const on = ({ host, db }: CoreHost) =>
      RENEWAL_JOB.handle(db, id, {
        ...host.parts,
        requestId: 'r',
        cause: { kind: 'job', id: 'r' },
        signal,
      })
    await Promise.all([on(core), on(other), on(core), on(other)])
    expect(server.state.reused).toBe(false)
    expect(server.asked).toHaveLength(1)
    expect((await kept(id)).renewals?.['']?.refresh_token).toMatch(/^refresh-[1-9]/)
  } finally {
    await other.stop()
  }
})

test('a token is not renewed again while its new expiry is being stored', async () => {
  const id = await connect('person', { access_token: 'a', expires_in: 7200, ...renewed() })
  const owner = new Client(await core.login())
  await owner.connect()
  try {
    await owner.query(`
      create function wait_a_while() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.5); return new; end $$;
      create trigger wait_a_while before update on token_renewals for each row
        when (new.renew_at > now()) execute function wait_a_while()`)
    await dueNow(id)
    const signal = new AbortController().signal
    const handle = () =>
      RENEWAL_JOB.handle(core.db, id, {
        ...core.host.parts,
        requestId: 'r',
        cause: { kind: 'job', id: 'r' },
        signal,
      })
    const looks = [0, 100, 200, 300, 400].map(async (afterMs) => {
      await pause(afterMs)
      await handle()
    })
    await Promise.all(looks)
    expect(server.asked).toHaveLength(1)
    const { body } = await core.call('GET', `/operator/calls?cause=token_renewal:${id}`)
    expect(body.items).toContainEqual(
      expect.objectContaining({ capability: 'refresh_access_token', app_id: id, outcome: 'ok' }),
    )
  } finally {
    await owner.query('drop function wait_a_while cascade')
    await owner.end()
  }
})

test('a refused renewal is retried with backoff, creates a task, and is logged when given up', async () => {
  server.state.broken = true
  const id = await connect('person', { access_token: 'access-0-aaaaaaaa', ...renewed() })
  await until('the renewal has failed', async () => (await plan(id))?.attempts === 1)
  const first = Number((await plan(id))?.seconds)
  expect(first).toBeGreaterThan(0)
  await core.db.update(tokenRenewals).set({ attempts: 6, renewAt: sql`now()` })
  await until('the renewal has failed again', async () => (await plan(id))?.attempts === 7)
  expect(Number((await plan(id))?.seconds)).toBeGreaterThan(first * 4)
  const tasks = await core.call('GET', '/tasks?task_type=TOKEN_NOT_RENEWED&show_all_tasks=true')
  expect(tasks.body.items).toMatchObject([
    {
      task_category: 'ERROR',
      app: { id },
      description: expect.stringMatching(/^The access token of “.+” could not be renewed: .+\.$/),
      instructions: `Keyway keeps trying for two days. If the consent was withdrawn, or the OAuth client has changed, reconnect the app with PUT /apps/${id}.`,
    },
  ])
  expect(JSON.stringify(tasks.body)).not.toMatch(/aaaaaaaa|secret-of-the-client/)
  expect(await accessToken(id)).toBe('access-0-aaaaaaaa')
  expect((await rowOf(id)).syncStatus).toBeNull()
  await core.db.update(tokenRenewals).set({ attempts: 99, renewAt: sql`now()` })
  await until('Keyway has given up', async () => (await plan(id))?.attempts === 100)
  expect(logged(core, 'app_id', id).filter((line) => /access token/.test(line))).toEqual([
    'warn: the access token of an app could not be renewed; Keyway will try again',
    'warn: the access token of an app could not be renewed; its admins have a task',
    'error: the access token of an app could not be renewed and Keyway has given up; reconnect the app',
  ])
  expect(core.lines.join('')).not.toMatch(/aaaaaaaa|secret-of-the-client/)
  server.state.broken = false
  await dueNow(id)
  await until('the token is renewed', async () => (await plan(id))?.attempts === 0)
})

test('no secret is stored or logged, even if the server echoes it in its error', async () => {
  const auth = renewed()
  const id = await connect('person', { access_token: 'access-0-aaaaaaaa', ...auth })
  server.state.broken = true
  await dueNow(id)
  const problem = async () =>
    (await core.db.select().from(tokenRenewals).where(eq(tokenRenewals.appId, id)))[0]?.problem
  const reported = await until('the renewal has failed', problem)
  expect(reported).toContain('invalid_grant')
  const { body } = await core.call('GET', '/operator/jobs?queue=token-renewals')
  for (const text of [reported, JSON.stringify(body), core.lines.join('')]) {
    expect(text).not.toContain(auth.refresh_token)
    expect(text).not.toContain(auth.client_secret)
  }
})

test('reconnecting an app replaces its renewal schedule, and disconnecting deletes it', async () => {
  const auth = { access_token: 'a', expires_in: 7200, ...renewed() }
  const id = await connect('person', auth)
  const body = { app_class_id: 'person', auth: { access_token: 'b' } }
  expect((await core.call('PUT', `/apps/${id}`, { body })).status).toBe(200)
  expect(await plan(id)).toBeUndefined()
  await core.call('PUT', `/apps/${id}`, { body: { app_class_id: 'person', auth } })
  expect(await plan(id)).toBeDefined()
  // The token endpoint receives credentials, so a new one requires them again.
  const settings = { server: 'http://127.0.0.1:9' }
  const moved = await core.call('PUT', `/apps/${id}`, {
    body: { app_class_id: 'person', settings },
  })
  expect([moved.status, moved.body.detail]).toEqual([400, expect.stringContaining('auth')])
  await core.call('DELETE', `/apps/${id}`)
  expect(await plan(id)).toBeUndefined()
})

/** The form fields that an operator submits to connect an app. */
const filled = (id: string, more: object = {}) => ({
  ...{ obtain: '.', 'auth.client_id': CLIENT.client_id, 'auth.scopes': 'read write' },
  ...{ 'secret.auth.client_secret': CLIENT.client_secret, name: `Own ${id}` },
  ...{ 'settings.server': `http://${server.host}`, ...more },
})

/** Submits the form and returns the address of the consent page. */
async function consentAddress(visitor: Visitor, path: string, fields: Record<string, string>) {
  await visitor.get(path)
  const sent = await visitor.post(path, fields)
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/console/consent'])
  const { text } = await visitor.get('/console/consent')
  const href = /class="btn main" href="([^"]+)"/.exec(text)?.[1] ?? ''
  return new URL(href.replaceAll('&amp;', '&'))
}

const CALLBACK = '/console/consent/callback'

test('an operator connects and reconnects an app by consent', async () => {
  const visitor = await signedIn(core)
  const asked = await consentAddress(visitor, '/console/connect/person', filled('person'))
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    ...{ client_id: 'keyway', response_type: 'code', scope: 'read write' },
    redirect_uri: `http://localhost${CALLBACK}`,
  })
  const state = asked.searchParams.get('state') ?? ''
  // A forged state is refused and does not invalidate the real one.
  expect((await visitor.get(`${CALLBACK}?code=c&state=forged`)).status).toBe(400)
  const returned = await visitor.get(`${CALLBACK}?code=the-code&state=${state}`)
  const at = returned.headers.get('location') ?? ''
  expect([returned.status, at]).toEqual([303, expect.stringMatching(/^\/console\/apps\/[\w-]+$/)])
  expect((await visitor.get(at)).text).toContain('It is connected.')
  expect(server.asked).toEqual([
    {
      ...{ grant_type: 'authorization_code', code: 'the-code', ...CLIENT },
      redirect_uri: `http://localhost${CALLBACK}`,
    },
  ])
  const id = at.split('/').at(-1) ?? ''
  expect(await kept(id)).toMatchObject({
    auth: { oauth: { access_token: expect.stringMatching(/^access-/) } },
    renewals: { '': { ...CLIENT, refresh_token: expect.any(String), expires_in: 3600 } },
  })
  expect((await rowOf(id)).name).toBe('Own person')
  // A state is valid only once.
  expect((await visitor.get(`${CALLBACK}?code=the-code&state=${state}`)).status).toBe(400)

  const before = await accessToken(id)
  const again = await consentAddress(visitor, `${at}/connection`, filled('person'))
  await visitor.get(`${CALLBACK}?code=other&state=${again.searchParams.get('state')}`)
  expect(await accessToken(id)).not.toBe(before)
})

test('a consent that is incomplete, refused, failed or of another person connects nothing', async () => {
  const visitor = await signedIn(core)
  const path = '/console/connect/person'
  await visitor.get(path)
  const bare = await visitor.post(path, { ...filled('person'), 'auth.client_id': '' })
  expect([bare.status, bare.text]).toEqual([422, expect.stringContaining('Enter the client ID')])
  const noSetting = await visitor.post(path, { ...filled('person'), 'settings.server': '' })
  expect([noSetting.status, noSetting.text]).toEqual([422, expect.stringContaining('Fill in: ')])

  const first = await consentAddress(visitor, path, filled('person'))
  const query = `error=access_denied&state=${first.searchParams.get('state')}`
  const denied = await visitor.get(`${CALLBACK}?${query}`)
  expect([denied.status, denied.text]).toEqual([
    422,
    expect.stringContaining('Consent was refused'),
  ])
  expect(denied.text).toContain('value="keyway"')
  expect(denied.text).not.toContain(CLIENT.client_secret)

  const odd = await consentAddress(visitor, path, filled('person'))
  const words = encodeURIComponent('<b>no</b>')
  const other = `error=server_error&error_description=${words}&state=${odd.searchParams.get('state')}`
  const refused = await visitor.get(`${CALLBACK}?${other}`)
  expect(refused.text).toContain('server_error: &lt;b&gt;no&lt;/b&gt;')

  const broken = await consentAddress(visitor, path, filled('person'))
  server.state.broken = true
  const failed = await visitor.get(`${CALLBACK}?code=c&state=${broken.searchParams.get('state')}`)
  expect([failed.status, failed.text]).toEqual([502, expect.stringContaining('returned no tokens')])
  expect(failed.text).not.toContain(CLIENT.client_secret)
  server.state.broken = false

  const mine = await consentAddress(visitor, path, filled('person'))
  const bea = await person(core.db, 'bea-consents@acme.example', ['Admin'])
  const stranger = await signedIn(core, bea.token)
  stranger.cookies.set('keyway_consent', visitor.cookies.get('keyway_consent') ?? '')
  const stolenCallback = `${CALLBACK}?code=c&state=${mine.searchParams.get('state')}`
  expect((await stranger.get(stolenCallback)).status).toBe(400)
  expect((await core.call('GET', '/apps?connection_source=API')).body.total).toBe(0)
})

test('a consent that comes late connects nothing', async () => {
  const visitor = await signedIn(core)
  const asked = await consentAddress(visitor, '/console/connect/person', filled('person'))
  const returned = `${CALLBACK}?code=c&state=${asked.searchParams.get('state')}`
  const connected = async () =>
    (await core.call('GET', '/apps?connection_source=API')).body.total as number
  const late = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + CONSENT_SECONDS * 1000)
  try {
    expect((await visitor.get(returned)).status).toBe(400)
  } finally {
    late.mockRestore()
  }
  expect(await connected()).toBe(0)
  expect((await visitor.get(returned)).status).toBe(303)
  expect(await connected()).toBe(1)
})

test('an app with client credentials gets a token and is connected at once', async () => {
  const visitor = await signedIn(core)
  await visitor.get('/console/connect/machine')
  const { status, headers } = await visitor.post('/console/connect/machine', filled('machine'))
  expect(status).toBe(303)
  const id = (headers.get('location') ?? '').split('/').at(-1) ?? ''
  expect(server.asked[0]).toEqual({
    grant_type: 'client_credentials',
    scope: 'read write',
    ...CLIENT,
  })
  expect(await accessToken(id)).toMatch(/^access-/)
})
