import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { HttpCaller } from '../../../runtime/http/edge/caller.ts'
import {
  type ConnectionDeps,
  type FrontConnection,
  serveConnection,
} from '../../../runtime/http/front/connection.ts'
import type { CallAnswer } from '../../../runtime/http/front/plain-calls.ts'
import { eventually } from '../../kit/eventually.ts'

const open: { server: Server; client: Socket }[] = []
afterEach(() => {
  for (const { server, client } of open.splice(0)) {
    client.destroy()
    server.close()
  }
})

/** A call's bytes. */
const callOf = (body: string): string =>
  `POST /connectors/acme/list_accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

type Changes = Partial<ConnectionDeps> & { isHeldBack?: boolean }

/** Answers wait until the test releases them. */
const holdBack = { isHeldBack: true }

/** A connection with a client that records what it receives; by default, calls are echoed. */
async function connection({ isHeldBack = false, ...changes }: Changes = {}) {
  const bodies: string[] = []
  const callers: HttpCaller[] = []
  /** Release the answers that were held back. */
  const answers: (() => void)[] = []
  const handedOver: string[] = []
  const served = Promise.withResolvers<{ connection: FrontConnection; socket: Socket }>()
  const onEnd = vi.fn()
  const deps: ConnectionDeps = {
    connectorsPath: '/connectors',
    isHost: () => true,
    isAllowed: () => true,
    keepAliveMs: 5000,
    isConnector: () => true,
    answer(_head, body, caller, done) {
      bodies.push(String(body))
      callers.push(caller)
      const give = () => done(answerWith(String(body)))
      if (isHeldBack) answers.push(give)
      else setImmediate(give)
    },
    handOver: (socket) => void socket.on('data', (chunk) => handedOver.push(chunk.toString())),
    ...changes,
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    served.resolve({ connection: serveConnection(socket, deps, onEnd), socket })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  open.push({ server, client })
  let heard = ''
  client.on('data', (chunk) => {
    heard += chunk
  })
  client.on('error', () => {})
  return {
    ...(await served.promise),
    ...{ client, bodies, callers, answers, handedOver, onEnd, heard: () => heard },
    bodiesHeard: () => heard.split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/).slice(1),
  }
}

const answerWith = (text: string): CallAnswer => ({
  status: 200,
  headers: {},
  body: Buffer.from(text),
})

const later = (ms: number): number => performance.now() + ms

test('a call whose body arrives in pieces is assembled', async () => {
  const { client, bodies, bodiesHeard } = await connection()
  const bytes = callOf('{"a":"bcdef"}')
  for (const piece of [bytes.slice(0, -9), bytes.slice(-9, -2), bytes.slice(-2)]) {
    client.write(piece)
    await turn()
  }
  await eventually(() => expect(bodiesHeard()).toEqual(['{"a":"bcdef"}']))
  expect(bodies).toEqual(['{"a":"bcdef"}'])
})

test('pipelined calls are answered in order', async () => {
  const { client, bodiesHeard } = await connection()
  client.write(callOf('1') + callOf('2') + callOf('3'))
  await eventually(() => expect(bodiesHeard()).toEqual(['1', '2', '3']))
})

test('a sender that is far ahead is paused', async () => {
  const { client, socket, bodies, answers, bodiesHeard } = await connection(holdBack)
  client.write(callOf('1'))
  client.write(callOf(`"${'x'.repeat(900_000)}"`))
  await eventually(() => expect(socket.isPaused()).toBe(true))
  answers[0]?.()
  await eventually(() => expect(bodies).toHaveLength(2))
  expect(bodies[1]).toHaveLength(900_002)
  answers[1]?.()
  await eventually(() => expect(bodiesHeard()).toHaveLength(2))
})

test('hundreds of calls in one packet with synchronous answers are all answered', async () => {
  const { client, bodiesHeard } = await connection({
    answer: (_head, body, _caller, done) => done(answerWith(String(body))),
  })
  client.write(Array.from({ length: 400 }, (_, at) => callOf(String(at))).join(''))
  await eventually(() => expect(bodiesHeard()).toHaveLength(400))
  expect(bodiesHeard()[399]).toBe('399')
})

test('the next call waits until the client reads the previous answer', async () => {
  const body = Buffer.alloc(30 * 1024 * 1024, 'x')
  const answer = vi.fn<ConnectionDeps['answer']>((_head, _body, _caller, done) => {
    setImmediate(done, { status: 200, headers: {}, body })
  })
  const { client, heard } = await connection({ answer })
  client.pause()
  client.write(callOf('1') + callOf('2'))
  await eventually(() => expect(answer).toHaveBeenCalledOnce())
  for (let turns = 0; turns < 50; turns++) await turn()
  expect(answer).toHaveBeenCalledOnce()
  client.resume()
  await eventually(() => expect(answer).toHaveBeenCalledTimes(2))
  await eventually(() => expect(heard().length).toBeGreaterThan(2 * body.length))
})

test.each(['destroy', 'end'] as const)(
  'a caller that hangs up (%s) aborts its call',
  async (how) => {
    const { client, callers, heard } = await connection(holdBack)
    client.write(callOf('1'))
    await eventually(() => expect(callers).toHaveLength(1))
    expect(callers[0]?.aborted).toBe(false)
    client[how]()
    await eventually(() => expect(callers[0]?.aborted).toBe(true))
    expect(heard()).toBe('')
  },
)

test('a caller that hangs up after its answer aborts nothing', async () => {
  const { client, socket, callers, bodiesHeard } = await connection()
  client.write(callOf('1'))
  await eventually(() => expect(bodiesHeard()).toEqual(['1']))
  client.destroy()
  await eventually(() => expect(socket.destroyed).toBe(true))
  expect(callers[0]?.aborted).toBe(false)
})

test('a caller that hangs up in the middle of a body gets a 400, and the host a call without a body', async () => {
  const { client, bodies, heard } = await connection()
  client.end(callOf('{"a":1}').slice(0, -3))
  await eventually(() =>
    expect(heard()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close/),
  )
  expect(bodies).toEqual(['null'])
})

test.each([
  ['another request', 'GET / HTTP/1.1\r\n\r\n', 0],
  ['a head in pieces', callOf('1').slice(0, 30), 0],
  ['a body that stays incomplete', callOf('{"a":1}').slice(0, -3), 2000],
])('%s is handed over to node:http, with every byte', async (_name, bytes, waitsMs) => {
  const { client, connection: mine, handedOver, onEnd, bodiesHeard } = await connection()
  client.write(callOf('1'))
  await eventually(() => expect(bodiesHeard()).toEqual(['1']))
  client.write(bytes)
  await turn()
  await eventually(() => {
    if (waitsMs > 0) mine.sweep(later(waitsMs))
    expect(handedOver.join('')).toBe(bytes)
  })
  client.write('more')
  await eventually(() => expect(handedOver.join('')).toBe(`${bytes}more`))
  expect(onEnd).toHaveBeenCalledOnce()
})

test('a silent connection is handed over to node:http, and an idle one is closed', async () => {
  const silent = await connection()
  silent.connection.sweep(later(500))
  expect(silent.onEnd).not.toHaveBeenCalled()
  silent.connection.sweep(later(1500))
  expect(silent.onEnd).toHaveBeenCalledOnce()
  silent.client.write('x')
  await eventually(() => expect(silent.handedOver.join('')).toBe('x'))

  const idle = await connection()
  idle.client.write(callOf('1'))
  await eventually(() => expect(idle.bodiesHeard()).toEqual(['1']))
  idle.connection.sweep(later(4900))
  expect(idle.socket.destroyed).toBe(false)
  idle.connection.sweep(later(6100))
  expect(idle.socket.destroyed).toBe(true)
})

test('while the host stops, connections without a call are closed, and those with one are not', async () => {
  const held = await connection(holdBack)
  const { client, connection: mine, socket, callers, answers, bodiesHeard } = held
  client.write(callOf('1'))
  await eventually(() => expect(callers).toHaveLength(1))
  mine.endIdle()
  expect(socket.destroyed).toBe(false)
  answers[0]?.()
  await eventually(() => expect(bodiesHeard()).toEqual(['1']))
  mine.endIdle()
  expect(socket.destroyed).toBe(true)
})

test('a repeated head is checked once, but its connector is looked up each time', async () => {
  const asked = { host: 0, isThere: true }
  const isHost = () => {
    asked.host += 1
    return true
  }
  const { client, bodiesHeard, handedOver } = await connection({
    isHost,
    isConnector: () => asked.isThere,
  })
  for (const body of ['[1]', '[2]']) {
    client.write(callOf(body))
    await eventually(() => expect(bodiesHeard().at(-1)).toBe(body))
  }
  expect(asked.host).toBe(1)
  asked.isThere = false
  client.write(callOf('[3]'))
  await eventually(() => expect(handedOver.join('')).toBe(callOf('[3]')))
})

test('a head that only begins like the previous one is checked again', async () => {
  const { client, bodiesHeard, handedOver } = await connection({
    isAllowed: (authorization) => authorization === 'Bearer good',
  })
  const withToken = (token: string, body: string) =>
    callOf(body).replace('\r\n\r\n', `\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  client.write(withToken('good', '[1]'))
  await eventually(() => expect(bodiesHeard()).toEqual(['[1]']))
  client.write(withToken('good', '[12]'))
  await eventually(() => expect(bodiesHeard()).toEqual(['[1]', '[12]']))
  client.write(withToken('goof', '[12]'))
  await eventually(() => expect(handedOver.join('')).toBe(withToken('goof', '[12]')))
})

test('each call on a connection keeps its own request id', async () => {
  const ids: (string | undefined)[] = []
  const { client, bodiesHeard } = await connection({
    answer(head, body, _caller, done) {
      ids.push(head.correlation.get('x-request-id'))
      setImmediate(() => done(answerWith(String(body))))
    },
  })
  const named = (id: string) => callOf('[1]').replace('\r\n\r\n', `\r\nX-Request-Id: ${id}\r\n\r\n`)
  for (const [index, id] of ['one', 'two', 'two'].entries()) {
    client.write(named(id))
    await eventually(() => expect(bodiesHeard()).toHaveLength(index + 1))
  }
  expect(ids).toEqual(['one', 'two', 'two'])
})
