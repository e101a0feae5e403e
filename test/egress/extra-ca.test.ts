import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startProxy } from './fixtures/proxy.ts'
import { listen, stopAll } from './fixtures/upstream.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** Fetches once in a separate process, because Node reads NODE_EXTRA_CA_CERTS at its start. */
const SCRIPT = `
  import * as v from 'valibot'
  import { Manifest } from './runtime/contract/connector/manifest.ts'
  import { createEgress } from './runtime/egress/fetch.ts'
  import { parsePrivateGrants } from './runtime/egress/limits/grants.ts'
  const [, port, httpsProxy = null] = process.argv
  const name = process.env.NAME ?? 'in.example'
  const manifest = v.parse(Manifest, {
    id: 'acme', version: '1.0.0', runtime: '^1.0.0', capabilities: {},
    egress: [{ url: 'https://' + name + ':' + port }],
  })
  const privateGrants = parsePrivateGrants('acme=' + name + ':' + port)
  const egress = createEgress({
    privateGrants, userAgent: 'keyway/test', resolve: async () => ['127.0.0.1'],
    proxy: { httpsProxy, httpProxy: null, noProxy: null },
  })
  const call = egress.open({
    connectorId: 'acme', manifest, capability: 'x', level: 'read', settings: {},
    signal: AbortSignal.timeout(5000), secrets: null,
  })
  const request = { url: 'https://' + name + ':' + port, method: 'GET', headers: [], body: null, redirect: 'follow' }
  const said = await call.fetch(request).then((reply) => reply.body.toString(), (error) => error.message)
  process.stdout.write(said)
  await egress.close()
`

describe.skipIf(!hasOpenssl)('with a self-signed certificate (needs openssl on the PATH)', () => {
  let folder = ''
  let port = 0
  const pathOf = (name: string) => join(folder, name)
  const run = async (env: Record<string, string>, ...more: string[]) => {
    const args = ['--input-type=module', '-e', SCRIPT, String(port), ...more]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { PATH: process.env['PATH'] ?? '', ...env },
    })
    return stdout
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keyway-ca-'))
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', pathOf('key.pem'), '-out', pathOf('cert.pem'), '-days', '2'],
      ...['-subj', '/CN=in.example', '-addext', 'subjectAltName=DNS:in.example'],
    ])
    expect(made.stderr.toString()).not.toContain('rror')
    const cert = readFileSync(pathOf('cert.pem'))
    const key = readFileSync(pathOf('key.pem'))
    port = await listen(
      createServer({ cert, key }, (_request, response) => response.end('trusted')),
    )
  })

  afterAll(async () => {
    await stopAll()
    rmSync(folder, { recursive: true, force: true })
  })

  test('an upstream is refused', async () => {
    expect(await run({})).toBe(
      `in.example:${port} was not reached: TLS was refused: the certificate is self-signed; to trust it, start Keyway with its file in NODE_EXTRA_CA_CERTS`,
    )
  })

  test('an upstream whose certificate has another name is refused', async () => {
    const env = { NODE_EXTRA_CA_CERTS: pathOf('cert.pem'), NAME: 'out.example' }
    expect(await run(env)).toMatch(/^out\.example:\d+ was not reached: TLS was refused: .*name/)
  })

  test('an upstream is trusted with NODE_EXTRA_CA_CERTS, by its host name', async () => {
    expect(await run({ NODE_EXTRA_CA_CERTS: pathOf('cert.pem') })).toBe('trusted')
  })

  test('an upstream is trusted by its name through a proxy too', async () => {
    const proxy = await startProxy(port)
    expect(await run({ NODE_EXTRA_CA_CERTS: pathOf('cert.pem') }, proxy.url)).toBe('trusted')
    expect(proxy.seen).toMatchObject([{ line: `CONNECT in.example:${port}` }])
  })
})
