/**
 * The worker: a disposable process that runs isolates and nothing else. It does what the host's
 * messages say and decides nothing: which isolate serves which tenant, what may be fetched and how
 * long a call may take are the host's business.
 */
import { isUtf8 } from 'node:buffer'
import type { Duplex } from 'node:stream'
import type ivmModule from 'isolated-vm'
import * as v from 'valibot'
import { openChannel } from '../contract/channel.ts'
import type { Heads, Message } from '../contract/frames.ts'
import { WORKER_HEADS } from '../contract/worker-heads.ts'
import { type Connector, createConnector } from './connectors.ts'
import { createGuestIsolate, type GuestIsolate, type Source } from './guest-isolate.ts'
import { checkReply } from './reply.ts'
import { createTimers, type Timers } from './timers.ts'

type Guest = {
  ready: Promise<GuestIsolate>
  timers: Timers
  /** Open requests of the guest, each with the call that made it. */
  requests: Map<number, number>
  /** Calls that have not settled. */
  runs: Set<Promise<unknown>>
  loaded: boolean
  /** The host wants it gone. */
  ending: boolean
}

/** Largest body of a guest's request that goes to the host, in bytes; egress allows less. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024

const REQUEST_REFUSED = JSON.stringify({
  ok: false,
  error: {
    code: 'bad_request',
    message: 'the request cannot be sent: its address, headers or body are larger than may be',
    raised_by: 'Keyway',
    status_code: null,
  },
})

/** Serves the host's messages until the pipe ends. */
export function serve(
  ivm: typeof ivmModule,
  pipe: Duplex,
  preludeCode: string,
  die: (message: string) => never,
): void {
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
    call: (message) => void runCall(message),
    describe: (message) => void describe(message),
    fetched: ({ head, body }) => {
      const { reply } = head
      guests.get(head.isolate)?.requests.delete(head.request)
      // Text is much cheaper on the way in than base64.
      const encoding = isUtf8(body) ? 'utf8' : 'base64'
      const told =
        'error' in reply ? { ok: false, error: reply.error } : { ok: true, ...reply, encoding }
      const text = body.toString(encoding)
      withGuest(head.isolate, (guest) => guest.deliver(head.request, JSON.stringify(told), text))
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
    const guest = guests.get(isolate)
    if (guest?.ending) return
    buried.add(isolate)
    const gone = () => {
      guests.delete(isolate)
      channel.send('disposed', 0, { isolate, reason: 'asked', message: '' })
    }
    if (!guest) return gone()
    guest.ending = true
    guest.timers.clearAll()
    const ended = guest.ready.then(
      (one) => one.dispose(),
      () => {},
    )
    Promise.allSettled([ended, ...guest.runs])
      .then(gone)
      .catch(dieUnlessDisposed)
  }

  async function runCall({ call, head, body }: Message<'call'>): Promise<void> {
    const connector = connectors.get(head.connector)
    const schema = connector?.schema(head.capability)
    if (!connector || !schema) die('call of an unknown connector or capability')
    // The host has heard, or will hear, that the isolate is gone, and ends the call.
    if (buried.has(head.isolate)) return
    try {
      const guest = await guestFor(head.isolate, connector)
      const run = guest.run(call, head.capability, body.toString('utf8'))
      const runs = guests.get(head.isolate)?.runs
      runs?.add(run)
      const parts = await run.finally(() => runs?.delete(run))
      const { reply, body: bytes } = checkReply(parts, schema, head.capability, head.raw)
      channel.send('reply', call, reply, bytes)
    } catch (error) {
      broke(head.isolate, error)
    }
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
    if (!guest || guest.ending) return
    buried.add(isolate)
    guests.delete(isolate)
    guest.timers.clearAll()
    guest.ready
      .then(
        (one) => one.dispose(),
        () => {},
      )
      .catch(dieUnlessDisposed)
    const message = String(error instanceof Error ? error.message : error).slice(0, 800)
    const reason = /memory limit/i.test(message) ? 'memory' : guest.loaded ? 'failed' : 'load'
    channel.send('disposed', 0, { isolate, reason, message })
  }

  function guestFor(isolate: number, connector: Connector): Promise<GuestIsolate> {
    const known = guests.get(isolate)
    if (known) return known.ready
    let made: GuestIsolate | null = null
    const timers = createTimers((id) => made?.deliver(id, '{}', ''))
    const post = (op: string, id: number, headJson: string, body: string) =>
      fromGuest(isolate, op, id, headJson, body)
    const ready = createGuestIsolate(
      ivm,
      prelude,
      connector.source,
      connector.memoryMb,
      post,
      (message) => die(`catastrophe: ${message}`),
    ).then((one) => {
      made = one
      guest.loaded = true
      return one
    })
    const guest: Guest = {
      ready,
      timers,
      requests: new Map(),
      runs: new Set(),
      loaded: false,
      ending: false,
    }
    guests.set(isolate, guest)
    return ready
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
    if (!guest) return
    if (op === 'timer') return guest.timers.set(id, Number(JSON.parse(headJson).ms))
    if (op === 'timer.clear') return guest.timers.clear(id)
    if (op === 'log') {
      const line: Heads['log'] = JSON.parse(headJson)
      // The host ends a worker for a line that is not one.
      if (v.safeParse(WORKER_HEADS.log as v.GenericSchema, line).success)
        channel.send('log', id, line)
      return
    }
    if (op === 'fetch.abort') {
      const call = guest.requests.get(id)
      if (call !== undefined) channel.send('fetch_abort', call, { request: id })
      return
    }
    const { call, url, method, headers, redirect, encoding } = JSON.parse(headJson)
    const bytes = encoding === null ? undefined : Buffer.from(body, encoding)
    const head = { request: id, url, method, headers, redirect, hasBody: encoding !== null }
    // The host ends a worker that sends more: here it is the guest's own request that fails.
    const fits = (bytes?.length ?? 0) <= MAX_REQUEST_BYTES
    if (!fits || !v.is(WORKER_HEADS.fetch as v.GenericSchema, head))
      return withGuest(isolate, (one) => one.deliver(id, REQUEST_REFUSED, ''))
    guest.requests.set(id, call)
    channel.send('fetch', call, head, bytes)
  }

  channel.send('ready', 0, { version: process.version })
}
