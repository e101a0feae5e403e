/**
 * The worker: a disposable process that runs isolates and nothing else. It does what the host's
 * messages say and decides nothing: which isolate serves which tenant, what may be fetched and how
 * long a call may take are the host's business.
 */
import { isUtf8 } from 'node:buffer'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type ivmModule from 'isolated-vm'
import * as v from 'valibot'
import { openChannel } from '../contract/channel.ts'
import type { Heads, Message } from '../contract/frames.ts'
import { WORKER_HEADS } from '../contract/worker-heads.ts'
import { type Connector, createConnector } from './connectors.ts'
import { createGuestIsolate, type Source } from './guest-isolate.ts'
import { readRequest } from './guest-request.ts'
import { bundlePositions } from './positions.ts'
import { checkReply } from './reply.ts'
import { strayLine } from './strays.ts'
import { createTimers, type Timers } from './timers.ts'
import type { GuestIsolate } from './verbs.ts'

type Guest = {
  ready: Promise<GuestIsolate>
  timers: Timers
  /** Open requests of the guest, each with the call that made it. */
  requests: Map<number, number>
  /** Calls that have not settled. */
  runs: Map<number, Promise<unknown>>
  /** Lines on strays that came while no call ran, as at the top level: the next call logs them. */
  strays: Heads['log'][]
  loaded: boolean
  /** Ends the isolate, also while it is being made. */
  end: () => void
  /** Once it was told to end: resolves when no thread of it is left. */
  gone: Promise<void> | null
}

/** Longest log line of a guest, in characters of JSON. */
const MAX_LOG_LENGTH = 128 * 1024

/** Most lines that wait for a call. */
const MAX_WAITING_STRAYS = 8

/** What may wait for the host before log lines are dropped and replies wait their turn, in bytes. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024

/** Serves the host's messages until the pipe ends. @returns a function that takes the read bytes if the pipe emits no `data` events */
export function serve(
  ivm: typeof ivmModule,
  pipe: Duplex,
  preludeCode: string,
  die: (message: string) => never,
): (chunk: Buffer) => void {
  const prelude: Source = { code: preludeCode, name: 'keyway-prelude.js', cached: null }
  const connectors = new Map<string, Connector>()
  const guests = new Map<number, Guest>()
  /** Isolates that are gone. A call that crossed the word of it must not bring one back: nobody would end it. */
  const buried = new Set<number>()

  const channel = openChannel(
    pipe,
    (message) => HANDLERS[message.kind]?.(message as never),
    (error) => die(`protocol: ${error.message}`),
  )

  /** Messages the worker takes; what is missing here is not for a worker. */
  const HANDLERS: { [K in Message['kind']]?: (message: Message<K>) => void } = {
    load: ({ head, body }) => {
      const code = body.toString('utf8')
      connectors.set(
        head.connector,
        createConnector(head.connector, code, head.memoryMb, head.responseFields),
      )
    },
    // The bytes are in the pipe's buffer: read them before the first await.
    call: (message) => void runCall(message, message.body.toString('utf8')),
    describe: (message) => void describe(message),
    fetched: ({ head, body }) => {
      const { reply } = head
      const requests = guests.get(head.isolate)?.requests
      const call = requests?.get(head.request) ?? null
      requests?.delete(head.request)
      // Text is much cheaper on the way in than base64.
      const encoding = isUtf8(body) ? 'utf8' : 'base64'
      const told =
        'error' in reply ? { ok: false, error: reply.error } : { ok: true, ...reply, encoding }
      const text = body.toString(encoding)
      const headJson = JSON.stringify(told)
      withGuest(head.isolate, (guest) => guest.deliver(head.request, headJson, text, call))
    },
    cancel: ({ head, call }) => withGuest(head.isolate, (guest) => guest.abort(call)),
    ping: ({ head }) => {
      // No answer on failure: the host's patience is the judge.
      withGuest(head.isolate, (guest) =>
        guest.ping().then(() => channel.send('pong', 0, head), dieUnlessDisposed),
      )
    },
    dispose: ({ head }) => dispose(head.isolate),
  }

  function withGuest(isolate: number, use: (guest: GuestIsolate) => unknown): void {
    const guest = guests.get(isolate)
    // An isolate that could not be made is told of where it was asked for.
    guest?.ready.then(use, () => {}).catch(dieUnlessDisposed)
  }

  /** A verb that came too late for its isolate is no matter: the host learns of the end by `disposed`. */
  function dieUnlessDisposed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error)
    if (!/disposed/i.test(text)) die(`a verb failed: ${text}`)
  }

  /**
   * Ends an isolate because the host says so. The answer is that it really has ended: every run has
   * settled, which a thread in a native loop never does.
   */
  function dispose(isolate: number): void {
    buried.add(isolate)
    const guest = guests.get(isolate)
    const confirm = () =>
      channel.send('disposed', 0, { isolate, reason: 'asked', message: '', at: [] })
    if (!guest) return confirm()
    end(isolate, guest).then(confirm).catch(dieUnlessDisposed)
  }

  function end(isolate: number, guest: Guest): Promise<void> {
    if (guest.gone !== null) return guest.gone
    guest.timers.clearAll()
    guest.end()
    guest.gone = Promise.allSettled([guest.ready, ...guest.runs.values()]).then(() => {
      guests.delete(isolate)
    })
    return guest.gone
  }

  async function runCall({ call, head }: Message<'call'>, callJson: string): Promise<void> {
    const connector = connectors.get(head.connector)
    const schema = connector?.schema(head.capability)
    if (!connector || !schema) die('call of an unknown connector or capability')
    // The host has heard, or will hear, that the isolate is gone, and ends the call.
    if (buried.has(head.isolate)) return
    try {
      const isolate = await guestFor(head.isolate, connector)
      const run = isolate.run(call, head.capability, callJson)
      const guest = guests.get(head.isolate)
      guest?.runs.set(call, run)
      for (const line of guest?.strays.splice(0) ?? []) sendLog(call, line)
      const parts = await run.finally(() => guest && ended(guest, call))
      const { capability, raw: wantRaw, limits } = head
      const expected = { schema, capability, wantRaw, limits }
      const written = !connector.widens(head.capability)
      const { reply, body: bytes } = checkReply(parts, { ...expected, written })
      // Many large replies at once must wait here: the pipe has a bound, and breaks at it.
      while (channel.queuedBytes() > MAX_QUEUED_BYTES) await pause(5)
      channel.send('reply', call, reply, bytes)
    } catch (error) {
      broke(head.isolate, error)
    }
  }

  /** A run has settled. With the last one go the timers, which no deadline would bound any more. */
  function ended({ runs, timers }: Guest, call: number): void {
    runs.delete(call)
    // The guest clears them too, but it may have set others since.
    if (runs.size === 0) timers.clearAll()
  }

  async function describe({ call, head }: Message<'describe'>): Promise<void> {
    const connector = connectors.get(head.connector)
    if (!connector) die('description of an unknown connector')
    try {
      const { capabilities } = await guestFor(head.isolate, connector)
      channel.send('described', call, { capabilities })
    } catch (error) {
      broke(head.isolate, error)
    }
  }

  /** An isolate that could not be made, or from which no answer will come: it ends, all its calls too. */
  function broke(isolate: number, error: unknown): void {
    const guest = guests.get(isolate)
    // Once only: the host ends every call of the isolate at the first word of it.
    if (!guest || guest.gone !== null) return
    buried.add(isolate)
    void end(isolate, guest)
    const message = String(error instanceof Error ? error.message : error).slice(0, 800)
    const reason = /memory limit/i.test(message) ? 'memory' : guest.loaded ? 'failed' : 'load'
    const at = bundlePositions((error as Partial<Error> | null)?.stack)
    channel.send('disposed', 0, { isolate, reason, message, at })
  }

  function guestFor(isolate: number, connector: Connector): Promise<GuestIsolate> {
    const known = guests.get(isolate)
    if (known) return known.ready
    let made: GuestIsolate | null = null
    const timers = createTimers((id) => made?.deliver(id, '{}', '', null))
    const post = (op: string, id: number, headJson: string, body: string) =>
      fromGuest(isolate, op, id, headJson, body)
    const guest: Guest = {
      ready: Promise.resolve(null as never),
      timers,
      requests: new Map(),
      runs: new Map(),
      strays: [],
      loaded: false,
      end: () => {},
      gone: null,
    }
    guest.ready = createGuestIsolate(ivm, prelude, connector.source, connector.memoryMb, {
      post,
      onCatastrophe: (message) => die(`catastrophe: ${message}`),
      onMade: (end) => {
        guest.end = end
      },
      onStray: (reason, call) => logStray(guest, reason, call),
    }).then((one) => {
      made = one
      guest.loaded = true
      return one
    })
    guests.set(isolate, guest)
    return guest.ready
  }

  /** What the guest posts. The prelude made it, but a guest may have got at the prelude's parts. */
  function fromGuest(
    isolate: number,
    op: string,
    id: number,
    headJson: string,
    body: string,
  ): void {
    const guest = guests.get(isolate)
    if (!guest || guest.gone !== null) return
    if (op === 'timer') {
      // Without a call nobody would hold a deadline against what it does.
      if (guest.runs.size === 0 && guest.loaded) return
      return guest.timers.set(id, Number(JSON.parse(headJson).ms))
    }
    if (op === 'timer.clear') return guest.timers.clear(id)
    if (op === 'log') return writeLog(guest, id, headJson)
    if (op === 'fetch.abort') {
      const call = guest.requests.get(id)
      if (call !== undefined) channel.send('fetch_abort', call, { request: id })
      return
    }
    const request = readRequest(id, headJson, body, channel.queuedBytes())
    if ('message' in request) {
      const told = JSON.stringify({ ok: false, refused: request })
      return withGuest(isolate, (one) => one.deliver(id, told, '', null))
    }
    // Only for a call of its own: the host would ask in the name of another tenant.
    if (!guest.runs.has(request.call)) return
    guest.requests.set(id, request.call)
    channel.send('fetch', request.call, request.head, request.bytes)
  }

  function writeLog(guest: Guest, call: number, headJson: string): void {
    if (headJson.length > MAX_LOG_LENGTH || !guest.runs.has(call)) return
    const line: Heads['log'] = JSON.parse(headJson)
    // The host ends a worker for a line that is not one.
    if (v.is(WORKER_HEADS.log as v.GenericSchema, line)) sendLog(call, line)
  }

  function sendLog(call: number, line: Heads['log']): void {
    if (channel.queuedBytes() <= MAX_QUEUED_BYTES) channel.send('log', call, line)
  }

  /** Whose it is can be told by the turn alone; else it goes to the call that began last. */
  function logStray(guest: Guest, reason: unknown, turnOf: number | null): void {
    if (guest.gone !== null) return
    const line = strayLine(reason)
    const call = turnOf !== null && guest.runs.has(turnOf) ? turnOf : [...guest.runs.keys()].at(-1)
    if (call !== undefined) sendLog(call, line)
    else if (guest.strays.length < MAX_WAITING_STRAYS) guest.strays.push(line)
  }

  channel.send('ready', 0, { version: process.version })
  return channel.hear
}
