import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createShortWay, type ShortWayDeps } from '../../runtime/http/short-way.ts'
import type { CallEnd } from '../../runtime/invoke/ports.ts'
import type { Ends, ShortInvocation } from '../../runtime/invoke/start.ts'
import { createLog } from '../../runtime/log.ts'

const open: (Server | Socket)[] = []
afterEach(() => {
  for (const one of open.splice(0)) 'destroy' in one ? one.destroy() : one.close()
})

type Begun = { invocation: ShortInvocation; ends: Ends }

async function serve(more: Partial<ShortWayDeps> = {}) {
  const begun: Begun[] = []
  const calls: CallEnd[] = []
  const passedOn: string[] = []
  const server = createServer(
    createShortWay({
      connectorsPath: '/connectors',
      allowedHosts: [],
      connectorToken: '',
      find: (id) => (id === 'acme' ? { id, version: '1.0.0' } : null),
      generation: () => 3,
      start(invocation, ends) {
        begun.push({ invocation, ends })
        return true
      },
      invoke: () => Promise.reject(new Error('not asked')),
      onCall: (call) => void calls.push(call),
      log: createLog('silent'),
      ...more,
    })((incoming, outgoing) => {
      passedOn.push(incoming.url ?? '')
      incoming.resume()
      outgoing.end('long')
    }),
  ).listen(0, '127.0.0.1')
  open.push(server)
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  open.push(socket)
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk.toString()
  })
  socket.on('error', () => {})
  const ask = (body: string, headers: string[] = [], at = '/connectors/acme/list_accounts') =>
    socket.write(
      [
        `POST ${at} HTTP/1.1`,
        ...['host: localhost', 'content-type: application/json', ...headers],
        ...['', body],
      ].join('\r\n'),
    )
  const whole = (headers: string[] = [], at?: string) =>
    ask('{}', ['content-length: 2', ...headers], at)
  return { begun, calls, passedOn, socket, ask, whole, heard: () => heard }
}

const GOOD = { body: Buffer.from('{"response":[]}'), served: 'acme@1.0.0' }

test('the usual call is begun with its text, and answered with its headers', async () => {
  const { begun, calls, passedOn, whole, heard } = await serve()
  whole(['x-request-id: mine'])
  await vi.waitFor(() => expect(begun).toHaveLength(1))
  expect(begun[0]?.invocation).toMatchObject({
    connectorId: 'acme',
    capability: 'list_accounts',
    text: '{}',
    requestId: 'mine',
  })
  begun[0]?.ends.answer(GOOD)
  await vi.waitFor(() => expect(heard()).toContain('{"response":[]}'))
  expect(heard()).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(heard()).toContain('x-keyway-connector: acme@1.0.0\r\nx-keyway-generation: 3\r\n')
  expect(calls).toMatchObject([{ connector: 'acme', known: true, error: null, requestId: 'mine' }])
  expect(passedOn).toEqual([])
})

test('two calls in one packet are answered one after the other', async () => {
  const { begun, whole, heard } = await serve()
  whole()
  whole()
  await vi.waitFor(() => expect(begun.length).toBeGreaterThan(0))
  begun[0]?.ends.answer(GOOD)
  await vi.waitFor(() => expect(begun).toHaveLength(2))
  begun[1]?.ends.answer(GOOD)
  await vi.waitFor(() => expect(heard().match(/"response"/g)).toHaveLength(2))
})

test.each<[string, string[], string]>([
  ['a length', ['transfer-encoding: chunked'], '0\r\n\r\n'],
  ['one media type', ['content-length: 2', 'content-type: text/plain'], '{}'],
  ['one authorization', ['content-length: 2', 'authorization: a', 'authorization: b'], '{}'],
  ['what it waits for', ['content-length: 2', 'expect: 100-continue'], '{}'],
  ['a length that may be', [`content-length: ${2 ** 21}`], ''],
])('a request without %s is for the application', async (_what, headers, body) => {
  const { begun, passedOn, ask } = await serve()
  ask(body, headers)
  await vi.waitFor(() => expect(passedOn).toHaveLength(1))
  expect(begun).toEqual([])
})

test.each([
  '/connectors/acme/info',
  '/connectors/acme/fly',
  '/connectors/other/list_accounts',
  '/connectors/acme/list_accounts?a=1',
  '/connectors/acme/list%5Faccounts',
  '/connectors/acme',
  '/apps',
])('%s is for the application', async (at) => {
  const { begun, passedOn, whole } = await serve()
  whole([], at)
  await vi.waitFor(() => expect(passedOn).toEqual([at]))
  expect(begun).toEqual([])
})

test('where a token is needed, only the right one goes the short way', async () => {
  const { begun, passedOn, whole } = await serve({ connectorToken: 'right' })
  whole(['authorization: Bearer wrong'])
  whole()
  await vi.waitFor(() => expect(passedOn).toHaveLength(2))
  whole(['authorization: Bearer right'])
  await vi.waitFor(() => expect(begun).toHaveLength(1))
})

test('what is no short call goes the long way with a signal of its own', async () => {
  const signals: AbortSignal[] = []
  const { whole, heard } = await serve({
    start: () => false,
    invoke: async ({ signal }) => {
      signals.push(signal)
      return GOOD
    },
  })
  whole()
  await vi.waitFor(() => expect(heard()).toContain('{"response":[]}'))
  expect(signals[0]).toBeInstanceOf(AbortSignal)
})

test('a caller that hangs up in its body is recorded, and nothing is begun', async () => {
  const { begun, calls, ask, socket } = await serve()
  ask('{"a":', ['content-length: 500'])
  await new Promise((resolve) => setTimeout(resolve, 20))
  socket.destroy()
  await vi.waitFor(() => expect(calls).toMatchObject([{ error: { code: 'caller_gone' } }]))
  expect(begun).toEqual([])
})

test('a caller that hangs up while its call runs is told of once, and its late answer harms nobody', async () => {
  const { begun, calls, whole, socket } = await serve()
  whole()
  await vi.waitFor(() => expect(begun).toHaveLength(1))
  const [{ invocation }] = begun as [Begun]
  const { signal } = invocation
  const gone = vi.fn()
  signal.addEventListener('abort', gone)
  socket.destroy()
  await vi.waitFor(() => expect(gone).toHaveBeenCalledOnce())
  expect(signal.aborted).toBe(true)
  begun[0]?.ends.answer(GOOD)
  expect(calls).toHaveLength(1)
})

test('a caller that hangs up after its answer is nobody’s business', async () => {
  const { begun, whole, socket, heard } = await serve()
  whole()
  await vi.waitFor(() => expect(begun).toHaveLength(1))
  begun[0]?.ends.answer(GOOD)
  await vi.waitFor(() => expect(heard()).toContain('response'))
  socket.destroy()
  await once(socket, 'close')
  expect(begun[0]?.invocation.signal.aborted).toBe(false)
})

test('a defect is told as one, without its words', async () => {
  const { whole, heard, calls } = await serve({
    start: () => {
      throw new TypeError('secret words')
    },
  })
  whole()
  await vi.waitFor(() => expect(heard()).toContain('"is_error":true'))
  expect(heard()).not.toContain('secret words')
  expect(calls).toMatchObject([{ error: { code: 'internal' } }])
})
