/** The same routes with the front and without it, over an invoke that echoes its request. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import * as v from 'valibot'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { withConnectors } from '../../../runtime/http/app.ts'
import { hostCheck } from '../../../runtime/http/edge/guards.ts'
import { refuseOddRequests } from '../../../runtime/http/edge/odd-requests.ts'
import { interceptConnections } from '../../../runtime/http/front/front.ts'
import { createPlainCalls, type FrontCalls } from '../../../runtime/http/front/plain-calls.ts'
import type { Invoke } from '../../../runtime/invoke/invoke.ts'
import type { CallEnd } from '../../../runtime/invoke/ports.ts'
import type { Start } from '../../../runtime/invoke/start.ts'
import { createLog } from '../../../runtime/observe/log.ts'

export const TOKEN = 'a-token-of-the-connector-interface'

const MANIFEST = {
  id: 'acme',
  version: '1.0.0',
  runtime: '^1.0.0',
  authentication_schema: { kind: 'token' },
  egress: [{ url: 'https://api.acme.example' }],
  capabilities: { list_accounts: {} },
}

export type Way = {
  port: number
  calls: CallEnd[]
  /** The requests that were received completely since the last call, as `POST /x`. */
  takeRequests(): string[]
  /** How many requests the front answered since the last call. */
  takeUsual(): number
  stop(): void
}

/** Echoes its request; a request may ask for an error, or for many bytes. */
export const repeat: Invoke = async ({ connectorId, capability, text, requestId }) => {
  if (connectorId !== 'acme') throw new RuntimeError('connector_unknown', 'there is no such')
  const body: unknown = JSON.parse(text.startsWith('{') ? text : 'null')
  const { fail, fill } = { fail: undefined, fill: 0, ...(body as object) }
  if (fail === 'defect') throw new TypeError('a defect')
  if (fail === 'later')
    throw new RuntimeError('connector_threw', 'no', { page: { token: 't', size: 1 } })
  if (fail === 'gone') throw new RuntimeError('caller_gone', 'gone')
  if (fail !== undefined) throw new RuntimeError('connector_threw', 'no')
  const id = /^[0-9a-f-]{36}$/.test(requestId) ? 'generated' : requestId
  const filling = 'x'.repeat(Number(fill))
  return {
    body: Buffer.from(JSON.stringify({ capability, text, id, filling })),
    served: 'acme@1.0.0',
  }
}

/** Listens with the front before node:http, or with node:http alone. */
export async function open(way: 'front' | 'plain', invoke: Invoke = repeat): Promise<Way> {
  const manifest = v.parse(Manifest, MANIFEST)
  const calls: CallEnd[] = []
  const log = createLog('silent')
  const allowedHosts: string[] = []
  const start: Start = () => false
  const deps = {
    connectorsPath: '/connectors',
    isLooking: () => false,
    ids: () => ['acme'],
    find: (id: string) => (id === 'acme' ? { id, version: '1.0.0', digest: 'd', manifest } : null),
    logo: async () => null,
    ...{ invoke, start },
    generation: () => 7,
    onCall: (end: CallEnd) => void (calls.length < 1000 && calls.push(end)),
    ...{ allowedHosts, connectorToken: TOKEN, log },
  }
  const others = new Hono<never>()
  others.get('/end', (c) => c.text('the end'))
  const app = withConnectors(others as never, deps, hostCheck(allowedHosts))
  const server = serve({
    fetch: app.fetch,
    hostname: '127.0.0.1',
    port: 0,
    createServer: ((options: ServerOptions, answer: RequestListener) =>
      createServer(options, refuseOddRequests(log, answer))) as typeof createServer,
  }) as Server
  const usual = createPlainCalls(deps)
  const counted: FrontCalls = {
    ...usual,
    answer(head, body, caller, done) {
      const url = `/connectors/${head.id}/${head.capability}`
      requests.push({ method: 'POST', url, complete: body !== null })
      answered++
      usual.answer(head, body, caller, done)
    },
  }
  const front = way === 'front' ? interceptConnections(server, counted) : null
  let answered = 0
  let requests: Pick<IncomingMessage, 'method' | 'url' | 'complete'>[] = []
  server.prependListener('request', (request) => void requests.push(request))
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    calls,
    takeRequests() {
      const taken = requests.filter(({ complete }) => complete)
      requests = []
      return taken.map(({ method, url }) => `${method} ${url}`)
    },
    takeUsual() {
      const taken = answered
      answered = 0
      return taken
    },
    stop() {
      front?.stop()
      server.closeAllConnections()
      server.close()
    },
  }
}

/**
 * Sends each chunk in a separate turn of the event loop, and returns everything that is received until the
 * connection ends. Both ends share the event loop: after some turns without data, the client ends its side.
 */
export function exchange(
  port: number,
  chunks: readonly Buffer[],
  { quietTurns = 40 } = {},
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    const received: Buffer[] = []
    let [sent, over, quiet] = [0, false, 0]
    const turn = () => {
      if (over) return
      const chunk = chunks[sent]
      if (!socket.writable) quiet++
      else if (chunk !== undefined) {
        sent++
        socket.write(chunk)
        quiet = 0
      } else if (socket.writableLength === 0 && ++quiet === quietTurns) socket.end()
      if (quiet > 2 * quietTurns) socket.destroy()
      setImmediate(turn)
    }
    socket.on('connect', turn)
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk)
      quiet = 0
    })
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      over = true
      resolve(normal(Buffer.concat(received).toString('latin1')))
    })
  })
}

/**
 * Removes what differs between runs, and the order and the case of headers. `100 Continue` is removed because
 * node:http may send it at once or after earlier answers.
 */
const normal = (text: string): string =>
  text
    .replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/Date: [^\r]+/g, 'Date: NOW')
    .replaceAll(
      /(HTTP\/1\.1 \d{3} [^\r]*\r\n)((?:[\w-]+: [^\r]*\r\n)+)/g,
      (_, line, headers: string) => {
        const sorted = headers.toLowerCase().split('\r\n').sort()
        return `${line}${sorted.join('\n')}`
      },
    )
