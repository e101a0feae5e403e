/** Requests of commands to a running host, and to another program on its port. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { callOperator, findOperator } from '../../runtime/cli/operator/client.ts'
import { hostProof, hostProofKey } from '../../runtime/secrets/key-derivation.ts'

const TOKEN = `lsk_${'t'.repeat(40)}`
const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
})

/** A scripted host: answers /info as Keyway and the rest with `answers`; records bodies and tokens. */
async function host(answers: [status: number, body: object][], headers: object = {}) {
  const heard: { token: string | undefined; body: string }[] = []
  const server = createServer(async (request, reply) => {
    if (request.url === '/info') {
      reply.end('{"name":"Keyway"}')
      return
    }
    const asked = new URL(request.url ?? '', 'http://h')
    if (asked.pathname === '/operator/proof') {
      const [nonce = '', address = ''] = ['nonce', 'address'].map(
        (n) => asked.searchParams.get(n) ?? '',
      )
      reply.end(JSON.stringify({ proofs: [hostProof(hostProofKey(TOKEN), { nonce, address })] }))
      return
    }
    let body = ''
    for await (const chunk of request) body += chunk
    heard.push({ token: request.headers.authorization, body })
    const [status, answer] = answers[heard.length - 1] ?? [500, {}]
    reply.writeHead(status, { ...headers }).end(JSON.stringify(answer))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { heard, target: await findOperator({ KEYWAY_ADMIN_TOKEN: TOKEN }, url) }
}

test('a streamed request is sent again in full while the database starts', async () => {
  const { heard, target } = await host([
    [503, {}],
    [200, { done: true }],
  ])
  const body = () => Readable.from(['a', 'b'])
  const answer = await callOperator(target, { method: 'POST', path: '/operator/x', body })
  expect(answer).toEqual({ done: true })
  expect(heard).toEqual(Array(2).fill({ token: `Bearer ${TOKEN}`, body: 'ab' }))
})

test('the token is not sent to the target of a redirect', async () => {
  const elsewhere = await host([])
  const { target } = await host([[307, {}]], { location: `${elsewhere.target.url}x` })
  const call = callOperator(target, { method: 'GET', path: '/operator/x' })
  await expect(call).rejects.toThrow('answered 307')
  expect(elsewhere.heard).toEqual([])
})

test('a host that never answers causes a timeout error', async () => {
  const { target } = await host([])
  servers.at(-1)?.removeAllListeners('request')
  const call = callOperator(target, { method: 'GET', path: '/operator/x', patienceMs: 100 })
  await expect(call).rejects.toThrow(
    /has not answered within .* s: the request may have been carried out/,
  )
})

test.each<
  [what: string, status: number, answer: (address: string, nonce: string) => object, says: RegExp]
>([
  [
    'without a proof',
    404,
    () => ({}),
    /does not prove that it knows the token of KEYWAY_ADMIN_TOKEN.*https/,
  ],
  ['of an older version', 401, () => ({ is_error: true }), /older version.*upgrade it/],
  [
    'that knows another token',
    200,
    () => ({ proofs: [] }),
    /does not accept the token of KEYWAY_ADMIN_TOKEN/,
  ],
  [
    'with an invented proof',
    200,
    () => ({ proofs: ['x'.repeat(43)] }),
    /does not accept the token/,
  ],
  [
    'that passes on a proof for another address',
    200,
    (_address, nonce) => ({
      proofs: [hostProof(hostProofKey(TOKEN), { nonce, address: '127.0.0.1:8080' })],
    }),
    /does not accept the token/,
  ],
  [
    'that replays a proof for another nonce',
    200,
    (address) => ({ proofs: [hostProof(hostProofKey(TOKEN), { nonce: 'n'.repeat(43), address })] }),
    /does not accept the token/,
  ],
])('a program %s never gets the token', async (_what, status, answer, says) => {
  const heard: string[] = []
  const server = createServer((request, reply) => {
    heard.push(JSON.stringify([request.url, request.headers]))
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://h')
    if (pathname === '/info') return void reply.end('{"name":"Keyway"}')
    const given = answer(searchParams.get('address') ?? '', searchParams.get('nonce') ?? '')
    reply.writeHead(status).end(JSON.stringify(given))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(findOperator({ KEYWAY_ADMIN_TOKEN: TOKEN }, url)).rejects.toThrow(says)
  expect(heard).toHaveLength(2)
  expect(heard.join()).not.toContain(TOKEN)
})
