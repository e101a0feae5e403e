/** Providers that hang, drip, flood or have a wrong certificate: limited, reported, harmless to others. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CoreHost, person, startCore } from '../../core/host.ts'
import { visit } from '../settings/visitor.ts'

const MIB = 2 ** 20
/** Timeout of a request to a provider, plus a margin for a loaded machine, in milliseconds. */
const PATIENCE_MS = 10_000 + 8000
/** Time for a good provider on a loaded machine, while others hang, in milliseconds. */
const QUICK_MS = 5000

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

let core: CoreHost
let folder: string
const servers: Server[] = []
/** Requests that each provider received, and bytes that it could send, by its name. */
const seen: Record<string, { asked: number; sent: number }> = {}

/** Starts a provider in this process; returns its issuer. */
async function provider(id: string, answer: (issuer: string) => RequestListener): Promise<string> {
  seen[id] = { asked: 0, sent: 0 }
  const server = createServer((request, reply) => {
    if (seen[id]) seen[id].asked += 1
    answer(issuer)(request, reply)
  })
  const issuer = `http://127.0.0.1:${await portOf(server)}`
  return issuer
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  // The cast: it listens on a port, not on a socket.
  return (server.address() as AddressInfo).port
}

/** Starts a provider with an untrusted certificate; returns its issuer. */
async function untrusted(): Promise<string> {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name))
  spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-keyout', key ?? '', '-out', cert ?? '', '-days', '2', '-subj', '/CN=other.example'],
  ])
  const [keyText, certText] = [key, cert].map((file) => readFileSync(file ?? ''))
  const options = { ...(keyText && { key: keyText }), ...(certText && { cert: certText }) }
  return `https://127.0.0.1:${await portOf(createTlsServer(options, (_q, reply) => reply.end('{}')))}`
}

const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
})

/** Sends for as long as the client reads. */
const flood =
  (id: string, begin: string): RequestListener =>
  (_request, reply) => {
    reply.setHeader('content-type', 'application/json')
    reply.write(begin)
    const chunk = ' '.repeat(65_536)
    const more = () => {
      while (!reply.destroyed && (seen[id]?.sent ?? 0) < 64 * MIB) {
        if (seen[id]) seen[id].sent += chunk.length
        if (!reply.write(chunk)) return void reply.once('drain', more)
      }
      reply.end()
    }
    more()
  }

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'keyway-sign-in-faults-'))
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const signing =
    (id: string, jwks: RequestListener) =>
    (issuer: string): RequestListener =>
    async (request, reply) => {
      const { pathname } = new URL(request.url ?? '', issuer)
      if (pathname === '/jwks') return jwks(request, reply)
      reply.setHeader('content-type', 'application/json')
      if (pathname !== '/token') return void reply.end(JSON.stringify(metadata(issuer)))
      const claims = { nonce: nonces[id], email: 'ada@example.com', email_verified: true }
      const id_token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuer(issuer)
        .setSubject('ada')
        .setAudience('keyway')
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey)
      reply.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token }))
    }
  const good: RequestListener = (_request, reply) => {
    reply.setHeader('content-type', 'application/json')
    reply.end(JSON.stringify({ keys: [jwk] }))
  }
  const issuers: Record<string, string> = {
    good: await provider('good', signing('good', good)),
    hang: await provider('hang', () => () => {}),
    crowd: await provider('crowd', () => () => {}),
    drip: await provider('drip', () => (_request, reply) => {
      reply.setHeader('content-type', 'application/json')
      reply.write('{')
      const timer = setInterval(() => reply.write(' '), 200)
      reply.once('close', () => clearInterval(timer))
    }),
    huge: await provider('huge', () => flood('huge', '{')),
    keys: await provider('keys', signing('keys', flood('keys', '{"keys":[]'))),
    'keys-hang': await provider(
      'keys-hang',
      signing('keys-hang', () => {}),
    ),
  }
  if (hasOpenssl) issuers['tls'] = await untrusted()
  const file = path.join(folder, 'providers.json')
  const all = Object.entries(issuers).map(([id, issuer]) => ({
    ...{ id, name: `Provider ${id}`, issuer, client_id: 'keyway' },
  }))
  writeFileSync(file, JSON.stringify(all))
  core = await startCore({
    KEYWAY_SIGN_IN: file,
    KEYWAY_PRIVATE_EGRESS: Object.values(issuers)
      .map((issuer) => `sign-in=${new URL(issuer).host}`)
      .join(' '),
  })
  await person(core.db, 'ada@example.com')
})
afterAll(async () => {
  await core?.stop()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await rm(folder, { recursive: true, force: true })
})

/** The nonce in the next token of each provider, by its name. */
const nonces: Record<string, string> = {}

async function timed<T>(work: Promise<T>): Promise<{ ms: number; value: T }> {
  const beganMs = performance.now()
  const value = await work
  return { ms: performance.now() - beganMs, value }
}

/** Signs in, from the button to the answer of the callback. */
async function returnToCallback(id: string) {
  const visitor = visit(core)
  const begun = await visitor.get(`/sign-in/${id}`)
  const query = new URL(begun.headers.get('location') ?? '').searchParams
  nonces[id] = query.get('nonce') ?? ''
  return visitor.get(`/sign-in/${id}/callback?code=c&state=${query.get('state')}`)
}

// The tests mostly wait, so they run concurrently.
describe.concurrent('a provider', () => {
  test.each(['hang', 'drip', 'huge'])(
    'with the fault %s leads to a page that says what to do',
    async (id) => {
      const { ms, value } = await timed(visit(core).get(`/sign-in/${id}`))
      expect([value.status, value.text.includes(`Provider ${id} cannot be reached`)]).toEqual([
        503,
        true,
      ])
      expect(value.text).toContain('ask the operator for a link')
      expect(ms).toBeLessThan(PATIENCE_MS)
      // The limit plus the socket buffers, not the 64 MiB that it would send.
      expect(seen[id]?.sent).toBeLessThan(16 * MIB)
    },
  )

  test('that hangs gets one request for all waiting visitors, and another provider still works', async () => {
    const waiting = Promise.all(
      Array.from({ length: 60 }, () => timed(visit(core).get('/sign-in/crowd'))),
    )
    const { ms, value } = await timed(returnToCallback('good'))
    expect([value.status, value.headers.get('location')]).toEqual([303, '/'])
    expect(ms).toBeLessThan(QUICK_MS)
    for (const one of await waiting) {
      expect(one.value.status).toBe(503)
      expect(one.ms).toBeLessThan(PATIENCE_MS)
    }
    expect(seen['crowd']?.asked).toBe(1)
    // For a moment, further sign-ins fail without waiting.
    expect((await timed(visit(core).get('/sign-in/crowd'))).ms).toBeLessThan(QUICK_MS)
  })

  test.skipIf(!hasOpenssl)('with an untrusted certificate is refused', async () => {
    const { status, text } = await visit(core).get('/sign-in/tls')
    expect([status, text.includes('Provider tls cannot be reached')]).toEqual([503, true])
    expect(core.lines.join('\n')).toContain('TLS was refused')
  })

  test.each(['keys', 'keys-hang'])('whose keys cannot be read (%s) signs nobody in', async (id) => {
    const { ms, value } = await timed(returnToCallback(id))
    expect([value.status, value.text.includes(`Provider ${id} cannot be reached`)]).toEqual([
      503,
      true,
    ])
    expect(ms).toBeLessThan(PATIENCE_MS)
    expect(seen[id]?.sent).toBeLessThan(16 * MIB)
  })
})
