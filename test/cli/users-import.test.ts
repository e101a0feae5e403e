/** `keyway users import` against a running host. */
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostProof, hostProofKey } from '../../runtime/secrets/key-derivation.ts'
import { ADMIN_TOKEN, type CoreHost, person, startCore } from '../core/host.ts'
import { keyway as run } from './keyway.ts'

const EXAMPLE = path.join(import.meta.dirname, '..', 'fixtures', 'readme', 'people.csv')

let core: CoreHost
let server: Server
let url: string
let home: string

beforeAll(async () => {
  core = await startCore()
  server = serve({ fetch: core.host.app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  home = await mkdtemp(path.join(tmpdir(), 'keyway-import-'))
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  await core.stop()
  await rm(home, { recursive: true, force: true })
})

const keyway = (args: string[], env: Record<string, string> = {}) =>
  run(['users', 'import', ...args], { env: { KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN, ...env } })

const file = async (name: string, content: string | Uint8Array) => {
  const full = path.join(home, name)
  await writeFile(full, content)
  return full
}
const total = async (term: string) =>
  (await core.call('GET', `/users?search_term=${encodeURIComponent(term)}`)).body.total

test('the README’s example is shown in a dry run, then imported', async () => {
  const dry = await keyway([EXAMPLE, '--url', url, '--dry-run'])
  expect(dry).toMatchObject({
    code: 0,
    out: expect.stringMatching(/added: 3\n(.*\n)*.*Nothing was stored/),
  })
  expect(await total('@example.com')).toBe(0)
  const real = await keyway([EXAMPLE, '--url', url])
  expect(real).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/Imported\.\n$/) })
  expect(await total('@example.com')).toBe(3)
  const again = await keyway([EXAMPLE, '--url', url, '--json'])
  expect(JSON.parse(again.out)).toMatchObject({ unchanged: 3, added: 0 })
})

test('control characters in names of groups are escaped', async () => {
  const name = '\u001b[2J\u009b31m\nImported.\u202e'
  const odd = await file('odd.csv', `email,groups\nodd@example.org,"${name}"\n`)
  const { out } = await keyway([odd, '--url', url, '--dry-run'])
  expect(out).toContain('\\u001b[2J\\u009b31m\\nImported.\\u202e')
  expect(out).not.toMatch(/[\u001b\u009b\u202e]|^Imported/m)
})

test('errors in the file are reported by line, and the command fails', async () => {
  const bad = await keyway([await file('bad.csv', 'email,status\nx,y\n'), '--url', url])
  expect(bad).toMatchObject({ code: 1, out: '' })
  expect(bad.err).toMatch(/nothing was imported\nline 2, email: .*\nline 2, status: /)
})

test('the error of a large file is printed although the host refuses it at its first line', async () => {
  const rows = `email\nx\n${'a@b.c\n'.repeat(5_000_000)}`
  const large = await file('large.csv', `no,header\n${rows}`)
  const { code, err } = await keyway([large, '--url', url])
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/line 1, email: is missing/),
  })
})

test('a token without the operator permission and an unknown token get different errors', async () => {
  const nobody = await person(core.db, 'nobody@b.c')
  const large = await file('token.csv', `email\n${'a@b.c\n'.repeat(1_000_000)}`)
  const weak = await keyway([large, '--url', url], { KEYWAY_ADMIN_TOKEN: nobody.token })
  expect(weak).toMatchObject({ code: 1, err: expect.stringMatching(/permission operator/) })
  const unknown = { KEYWAY_ADMIN_TOKEN: `lsk_${'x'.repeat(40)}` }
  const refused = await keyway([large, '--url', url], unknown)
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/token of KEYWAY_ADMIN_TOKEN/),
  })
  expect(refused.err).not.toContain(unknown.KEYWAY_ADMIN_TOKEN)
})

test.each([
  ['no file', () => path.join(home, 'none.csv'), /there is no file .*none\.csv; name a CSV file/],
  ['a folder', () => home, /is not a file/],
])('with %s, the import fails before anything is sent', async (_name, at, words) => {
  expect(await keyway([at(), '--url', url])).toMatchObject({
    code: 1,
    err: expect.stringMatching(words),
  })
})

test('a file of 1 GB is refused before anything is sent', async () => {
  const huge = await file('huge.csv', '')
  await truncate(huge, 1024 ** 3)
  expect((await keyway([huge, '--url', url])).err).toMatch(/has 1024 MiB; at most 256 .*split/)
})

test('without a reachable host, the error says what to do', async () => {
  const one = await file('one.csv', 'email\na@b.c\n')
  const { code, err } = await keyway([one, '--url', 'http://127.0.0.1:1'])
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(
      /No Keyway answers at http:\/\/127\.0\.0\.1:1 .*keyway start.*--url/,
    ),
  })
})

test('an invalid address and a missing token are refused with advice', async () => {
  const one = await file('one.csv', 'email\na@b.c\n')
  expect((await keyway([one, '--url', 'x'])).err).toMatch(/^--url: x is not an address/)
  const bare = await keyway([one, '--url', url], { KEYWAY_ADMIN_TOKEN: '', KEYWAY_DATA_DIR: home })
  expect(bare.err).toMatch(/admin-token: .*KEYWAY_DATA_DIR/)
})

test('the token is read from the data directory', async () => {
  const { port } = new URL(url)
  await writeFile(path.join(home, 'admin-token'), `${ADMIN_TOKEN}\n`)
  const env = { KEYWAY_ADMIN_TOKEN: '', KEYWAY_DATA_DIR: home, PORT: port }
  expect(await keyway([EXAMPLE, '--dry-run'], env)).toMatchObject({ code: 0 })
})

test.each(['content-length: 100000', 'transfer-encoding: chunked'])(
  'an upload that breaks off (%s) stores nothing, and the next one is accepted',
  async (framing) => {
    const { hostname, port } = new URL(url)
    const rows = 'email\nkilled@b.c\n'
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /operator/users/import HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ADMIN_TOKEN}\r\ncontent-type: text/csv\r\n${framing}\r\n\r\n`,
    )
    socket.write(framing.startsWith('t') ? `${rows.length.toString(16)}\r\n${rows}\r\n` : rows)
    await new Promise((resolve) => setTimeout(resolve, 300))
    socket.destroy()
    const next = async () => {
      const headers = { 'content-type': 'text/csv' }
      const raw = 'email\nnext@b.c\n'
      return (await core.call('POST', '/operator/users/import', { raw, headers })).status
    }
    await expect.poll(next, { timeout: 20_000 }).toBe(200)
    expect(await total('killed@b.c')).toBe(0)
  },
)

test('the host proves to any caller that it knows a token, but only for its own address', async () => {
  const nonce = 'n'.repeat(43)
  const proofs = async (token: string, address: string) => {
    const query = new URLSearchParams({ nonce, address, prefix: token.slice(0, 12) })
    const reply = await fetch(`${url}/operator/proof?${query}`)
    return [reply.status, await reply.json()]
  }
  const { host: address } = new URL(url)
  const { token } = await person(core.db, 'has-a-token@example.com')
  for (const known of [ADMIN_TOKEN, token]) {
    const proof = hostProof(hostProofKey(known), { nonce, address })
    expect(await proofs(known, address)).toEqual([200, { proofs: [proof] }])
  }
  expect(await proofs(`lsk_${'x'.repeat(40)}`, address)).toEqual([200, { proofs: [] }])
  // A program that forwards a question for another address gets no proof.
  expect(await proofs(ADMIN_TOKEN, '127.0.0.1:1')).toEqual([
    409,
    expect.objectContaining({ is_error: true }),
  ])
  expect((await proofs('abc', address))[0]).toBe(422)
})
