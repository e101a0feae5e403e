import { Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type Attempt, createDial, type DialOptions } from '../../../runtime/egress/dial/dial.ts'
import { errorOf } from '../fixtures/open-egress.ts'
import { startTcp, stopAll } from '../fixtures/upstream.ts'

afterEach(stopAll)

/** Dials with a socket that is never opened, and records each attempt. */
async function dialTo(target: string, options: Partial<DialOptions>) {
  const attempts: Attempt[] = []
  const { protocol, hostname, port, host } = new URL(target)
  const connect = createDial({
    connectorId: 'acme',
    isGranted: () => false,
    connectTimeoutMs: 1000,
    openSocket: async (attempt) => {
      attempts.push(attempt)
      return new Socket()
    },
    ...options,
  })
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  await new Promise<void>((resolve, reject) =>
    connect({ protocol, hostname: bare, host, port }, (...[error]) =>
      error ? reject(error) : resolve(),
    ),
  )
  return attempts
}

const answers =
  (...addresses: string[]) =>
  async () =>
    addresses

test('connects to the checked address even when the name resolves differently later', async () => {
  const rebinding = [['8.8.8.8'], ['127.0.0.1'], ['127.0.0.1']]
  let lookups = 0
  const resolve = async () => rebinding[lookups++] ?? []
  const attempts = await dialTo('https://rebind.example', { resolve })
  expect(attempts.map(({ address }) => address)).toEqual(['8.8.8.8'])
  expect(lookups).toBe(1)
})

test('uses the host name for TLS, and none for an address', async () => {
  const [named] = await dialTo('https://a.example:8443', { resolve: answers('8.8.8.8') })
  expect(named).toMatchObject({ servername: 'a.example', port: 8443, protocol: 'https:' })
  const [literal] = await dialTo('https://8.8.4.4', {})
  expect(literal).toMatchObject({ servername: null, address: '8.8.4.4', port: 443 })
})

test.each([
  ['https://mixed.example', ['8.8.8.8', '10.0.0.1'], 'mixed.example:443 is a private address'],
  ['https://mixed.example', ['::1', '8.8.8.8'], 'mixed.example:443 is a loopback address'],
  [
    'http://meta.example',
    ['169.254.169.254'],
    'meta.example:80 is a link-local address (cloud metadata)',
  ],
  ['https://mapped.example', ['::ffff:127.0.0.1'], 'is a loopback address inside IPv6'],
  ['https://odd.example', ['not-an-address'], 'is an unreadable address'],
  ['https://127.0.0.1', [], '127.0.0.1:443 is a loopback address'],
  ['http://[::1]:9', [], '[::1]:9 is a loopback address'],
  ['https://[::ffff:7f00:1]', [], 'is a loopback address inside IPv6'],
  ['https://0x7f.1', [], '127.0.0.1:443 is a loopback address'],
  ['https://localhost', ['127.0.0.1', '::1'], 'localhost:443 is a loopback address'],
])('refuses %s that resolves to %j', async (url, found, words) => {
  const error = await errorOf(dialTo(url, { resolve: answers(...found) }))
  expect(error).toMatchObject({ code: 'egress_private' })
  expect(error.message).toContain(words)
  expect(error.message).toContain(`KEYWAY_PRIVATE_EGRESS=acme=${error.message.split(' ')[0]}`)
})

test('never reveals the private address of a name', async () => {
  const error = await errorOf(dialTo('https://x.example', { resolve: answers('10.1.2.3') }))
  expect(error.message).not.toContain('10.1.2.3')
})

test('connects to a granted private host and port only', async () => {
  const isGranted = (target: string) => target === 'in.example:8443'
  const resolve = answers('10.0.0.1')
  expect(await dialTo('https://in.example:8443', { resolve, isGranted })).toHaveLength(1)
  expect(await errorOf(dialTo('https://in.example', { resolve, isGranted }))).toMatchObject({
    code: 'egress_private',
  })
})

test('tries the addresses in order and divides the time between them', async () => {
  const tried: Attempt[] = []
  const openSocket = async (attempt: Attempt) => {
    tried.push(attempt)
    if (attempt.address === '8.8.8.8') throw Object.assign(new Error(), { code: 'EHOSTUNREACH' })
    return new Socket()
  }
  await dialTo('https://a.example', { resolve: answers('8.8.8.8', '1.1.1.1'), openSocket })
  expect(tried.map(({ address }) => address)).toEqual(['8.8.8.8', '1.1.1.1'])
  expect(tried[0]!.timeoutMs).toBeLessThanOrEqual(500)
})

test.each([
  ['ENOTFOUND', 'upstream_rejected', 'a.example:443 was not reached: the name was not found'],
  ['EAI_AGAIN', 'upstream_rejected', 'could not be looked up for now'],
])('a lookup that fails with %s is %s', async (code, expected, words) => {
  const resolve = async () => {
    throw Object.assign(new Error(`getaddrinfo ${code} a.example`), { code })
  }
  const error = await errorOf(dialTo('https://a.example', { resolve }))
  expect(error).toMatchObject({ code: expected })
  expect(error.message).toContain(words)
})

test('a name without an address is not reached', async () => {
  const error = await errorOf(dialTo('https://a.example', { resolve: answers() }))
  expect(error).toMatchObject({ code: 'upstream_rejected' })
})

test('a lookup that never answers times out', async () => {
  const resolve = () => new Promise<string[]>(() => {})
  const error = await errorOf(dialTo('https://a.example', { resolve, connectTimeoutMs: 20 }))
  expect(error).toMatchObject({ code: 'upstream_connect_timeout' })
})

test('a TLS handshake that never answers times out', async () => {
  const port = await startTcp(() => {})
  const connect = createDial({ connectorId: 'acme', isGranted: () => true, connectTimeoutMs: 50 })
  const to = { protocol: 'https:', hostname: '127.0.0.1', host: '', port: String(port) }
  const work = new Promise<void>((resolve, reject) =>
    connect(to, (...[error]) => (error ? reject(error) : resolve())),
  )
  expect(await errorOf(work)).toMatchObject({ code: 'upstream_connect_timeout' })
})
