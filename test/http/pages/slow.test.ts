/** Pages while the database or a system is slow or silent: they answer in time, and lose no input. */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { signalDatabase } from '../../database/kill.ts'
import { until } from '../../e2e/until.ts'
import { listen, stopAll } from '../../egress/fixtures/upstream.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let visitor: Visitor
let silent: string
beforeAll(async () => {
  const port = await listen(createServer(() => {}))
  silent = `http://127.0.0.1:${port}/scim`
  const env = { KEYWAY_PRIVATE_EGRESS: `scim=127.0.0.1:${port}` }
  core = await startCore(env, { server: 'own', pace: { pageMs: 2000, formMs: 3000, readMs: 2000 } })
  await core.host.settled
  visitor = await signedIn(core)
})
afterAll(async () => {
  await core.stop()
  await stopAll()
})

const GERMAN = { headers: { 'accept-language': 'de' } }

test('a page whose database answers late is served late, but not refused', async () => {
  const other = new Client(await core.login())
  await other.connect()
  await other.query('begin; lock table access_requests in access exclusive mode')
  const seen = visitor.get('/access')
  await pause(500)
  await other.query('rollback')
  await other.end()
  expect((await seen).status).toBe(200)
})

test('a form for a silent system is answered 503, and returns the entered values except secrets', async () => {
  await visitor.get('/console/connect/scim')
  const typed = { name: 'Payroll', 'settings.base_url': silent, 'secret.auth.token': 'hush' }
  const seen = await visitor.post('/console/connect/scim', typed)
  expect(seen.status).toBe(503)
  expect(seen.text).toContain('may still be carried out')
  expect(seen.text).toContain('name: Payroll')
  expect(seen.text).toContain(`settings.base_url: ${silent}`)
  expect(seen.text).not.toContain('hush')
  expect(seen.text).toContain('href="/console/connect/scim"')
})

test('a slow upload does not count as a slow page', async () => {
  const { text } = await visitor.get('/console/install')
  const [, proof = ''] = /name="form_token" value="([^"]*)"/.exec(text) ?? []
  const part = (name: string, more: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (words: string) => controller.enqueue(new TextEncoder().encode(words))
      send(part('form_token', '', proof))
      await pause(3500)
      send(`${part('package', '; filename="made.tgz"', 'no package')}--b--\r\n`)
      controller.close()
    },
  })
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { host: 'localhost', cookie, 'content-type': 'multipart/form-data; boundary=b' }
  const sent = { method: 'POST', headers, body, duplex: 'half' } as const
  const from = { incoming: { socket: { remoteAddress: '10.0.1.1' } } }
  const seen = await core.host.app.request('/console/install', sent, from)
  expect([400, 422]).toContain(seen.status)
  expect(await seen.text()).not.toContain('may still be carried out')
})

test('with a silent database, a page links to itself, and a form returns the entered values', async () => {
  await visitor.get('/access')
  const pid = core.host.databasePid()
  signalDatabase(pid, 'SIGSTOP')
  try {
    const pages = ['/access?q=reports', '/inbox', '/console', '/settings/api-tokens']
    const read = pages.map(async (path) => {
      const { status, text } = await visitor.get(path)
      expect([path, status]).toEqual([path, 503])
      expect(text, path).toContain(`href="${path}">Try again</a>`)
      expect(text, path).toContain('took too long')
    })
    const german = visitor.get('/access', GERMAN)
    const forms = ['/access/request', '/inbox/0-0/comment', '/console/policies/new'].map(
      async (path) => {
        const { status, text } = await visitor.post(path, { why: 'Month end', name: 'Everybody' })
        expect([path, status]).toEqual([path, 503])
        expect(text, path).toContain('Month end</textarea>')
        expect(text, path).toContain('name: Everybody')
      },
    )
    const tokens = await visitor.post('/settings/api-tokens', { name: 'For the build' })
    expect([tokens.status, tokens.text]).toEqual([503, expect.stringContaining('For the build')])
    await Promise.all([...read, ...forms])
    expect((await german).text).toContain('brauchte zu lange')
    // A code that signs in is a secret.
    const code = await visitor.post('/settings/sign-in', { code: 'kwl_secret', next: '/access' })
    expect(code.text).not.toContain('kwl_secret')
  } finally {
    signalDatabase(pid, 'SIGCONT')
  }
  await until('the host answers again', async () => (await visitor.get('/access')).status === 200)
})

test('with a silent database, programs are told to try again', async () => {
  const pid = core.host.databasePid()
  signalDatabase(pid, 'SIGSTOP')
  try {
    const replies = ['/users', '/activity_logs', '/associations', '/operator/syncs'].map(
      async (path) => {
        const { status, headers, body } = await core.call('GET', path)
        expect([path, status, headers.get('retry-after')]).toEqual([path, 503, '10'])
        expect(JSON.stringify(body), path).toContain('does not respond')
      },
    )
    const pushed = await core.call('GET', '/scim/v2/Users', { token: 'lss_any' })
    expect(pushed).toMatchObject({ status: 503, body: { status: '503' } })
    await Promise.all(replies)
  } finally {
    signalDatabase(pid, 'SIGCONT')
  }
  await until(
    'the host answers again',
    async () => (await core.call('GET', '/users')).status === 200,
  )
})
