/**
 * The worker: a disposable process that runs isolates and nothing else. It does what the host's
 * messages say and decides nothing: which isolate serves which tenant, what may be fetched and how
 * long a call may take are the host's business.
 */

import type { Duplex } from 'node:stream'
import type ivmModule from 'isolated-vm'
import * as v from 'valibot'
import { LDAP_METHODS } from '../contract/connector/ldap-context.ts'
import { SQL_METHODS } from '../contract/connector/sql-context.ts'
import { membersOf } from '../contract/schema/record.ts'
import { openChannel } from '../protocol/channel.ts'
import type { Heads, Message } from '../protocol/frames.ts'
import { MAIN_THREAD, WORKER_HEADS } from '../protocol/worker-heads.ts'
import { readBox } from './box.ts'
import { type Connector, createConnector } from './connectors.ts'
import { createGuestIsolate, type GuestSource } from './guest-isolate.ts'
import { textOf } from './guest-reply.ts'
import { type JudgedRequest, MAX_QUEUED_BYTES, readRequest } from './guest-request.ts'
import { createLargeWork } from './large-work.ts'
import { onMainThread } from './main-thread.ts'
import { bundlePositions } from './positions.ts'
import { checkReply, type ReplyExpectation } from './reply.ts'
import { createSlices } from './slices.ts'
import { strayLine } from './strays.ts'
import { createTimers, type Timers } from './timers.ts'
import type { GuestIsolate, Hooks } from './verbs.ts'

type Guest = {
  ready: Promise<GuestIsolate>
  /** The same, once it is there. */
  made: GuestIsolate | null
  timers: Timers
  /** Open requests of the guest, each with the call that made it. */
  requests: Map<number, number>
  /** Large ones that have not been sent yet: they wait until the worker has time for them. */
  asking: Set<number>
  /** Calls that have not settled, and what their replies have to be. */
  runs: Map<number, ReplyExpectation>
  /**
   * Calls that keep the guest off the main thread: the host says so, they take too long, or they have sent
   * what must not be sent twice, so that the guest may not be cut.
   */
  threaded: Set<number>
  /** Lines on strays that came while no call ran, as at the top level: the next call logs them. */
  strays: Heads['log'][]
  loaded: boolean
  /** Calls so far. */
  calls: number
  /** Ends the isolate, also while it is being made. */
  end: () => void
  /** Once it was told to end: resolves when no thread of it is left. */
  gone: Promise<void> | null
}

/** Longest log line of a guest, in characters of JSON. */
const MAX_LOG_LENGTH = 128 * 1024

/** First calls of an isolate, which run on threads: code that has never run is slow. */
const COLD_CALLS = 2

/** Methods of requests that may be sent twice. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', LDAP_METHODS.search, SQL_METHODS.query])

/** Most lines that wait for a call. */
const MAX_WAITING_STRAYS = 8

/** From so many characters on the host is told that a reply is judged, or a body brought in or out: it takes some milliseconds. */
const LARGE_CHARS = 1024 * 1024

/** Serves the host's messages until the pipe ends. @returns a function that takes the read bytes if the pipe emits no `data` events */
export function serve(
  ivm: typeof ivmModule,
  pipe: Duplex,
  preludeCode: string,
  die: (message: string) => never,
): (chunk: Buffer) => void {
  const prelude: GuestSource = { code: preludeCode, name: 'keyway-prelude.js', cached: null }
  const connectors = new Map<string, Connector>()
  const guests = new Map<number, Guest>()
  const slices = createSlices()
  /** Isolates that are gone. A call that crossed the word of it must not bring one back: nobody would end it. */
  const buried = new Set<number>()
  /** Of requests that wait for their turn to be sent. */
  let waitingChars = 0

  const channel = openChannel(
    pipe,
    // The cast: the handler of this kind takes messages of this kind.
    (message) => HANDLERS[message.kind]?.(message as never),
    (error) => die(`protocol: ${error.message}`),
  )

  const { work, roomForLarge } = createLargeWork(channel, pipe)

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
    call: (message) => runCall(message, message.body.toString('utf8')),
    describe: (message) => void describe(message),
    fetched: (message) => {
      const { isolate, request, ticket } = message.head
      const requests = guests.get(isolate)?.requests
      const call = requests?.get(request) ?? null
      requests?.delete(request)
      const bring = ({ headJson, text }: ReturnType<typeof textOf>) => {
        withGuest(isolate, (guest) => guest.deliver(request, headJson, text, call))
        if (ticket !== undefined) channel.send('taken', 0, { ticket })
      }
      if (message.body.length < LARGE_CHARS) return bring(textOf(message))
      // Apart: either takes long for a large body. Its bytes are not in the pipe's buffer, which has small ones alone.
      work(message.body.length, async () => {
        const text = await onMainThread(() => textOf(message))
        await onMainThread(() => bring(text))
      })
    },
    cancel: ({ head, call }) => withGuest(head.isolate, (guest) => guest.abort(call)),
    ping: ({ head }) => {
      if (head.isolate === MAIN_THREAD) return channel.send('pong', 0, head)
      // No answer on failure: the host's patience is the judge.
      withGuest(head.isolate, (guest) =>
        guest.ping().then(() => channel.send('pong', 0, head), dieUnlessDisposed),
      )
    },
    dispose: ({ head }) => dispose(head.isolate),
  }

  function withGuest(isolate: number, use: (guest: GuestIsolate) => unknown): void {
    const guest = guests.get(isolate)
    if (guest?.made) return void use(guest.made)
    // An isolate that could not be made is reported where it was asked for.
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
    guest.gone = Promise.allSettled([guest.ready.then((one) => one.idle())]).then(() => {
      guests.delete(isolate)
    })
    return guest.gone
  }

  function runCall({ call, head }: Message<'call'>, callJson: string): void {
    const connector = connectors.get(head.connector)
    const schema = connector?.schema(head.capability)
    if (!connector || !schema) die('call of an unknown connector or capability')
    // The host has heard, or will hear, that the isolate is gone, and ends the call.
    if (buried.has(head.isolate)) return
    const guest = guestFor(head.isolate, connector)
    const { capability, raw: wantRaw, limits, threaded } = head
    const written = !connector.widens(capability)
    guest.runs.set(call, { schema, capability, wantRaw, limits, written })
    guest.calls += 1
    if (threaded || guest.calls <= COLD_CALLS) guest.threaded.add(call)
    const start = (one: GuestIsolate) => {
      for (const line of guest.strays.splice(0)) sendLog(call, line)
      one.run(call, capability, callJson)
    }
    if (guest.made) start(guest.made)
    else guest.ready.then(start).catch((error) => broke(head.isolate, error))
  }

  /** What an entry of a guest has brought about. */
  function takeBox(isolate: number, guest: Guest, box: unknown): void {
    try {
      readBox(box, (op, id, one, two, three) => {
        if (op === 'answer') answer(guest, id, one, two, three)
        else fromGuest(isolate, op, id, one, two)
      })
    } catch (error) {
      broke(isolate, error)
    }
  }

  function answer(guest: Guest, call: number, head: string, response: string, raw: string): void {
    const expected = guest.runs.get(call)
    if (!expected || guest.gone !== null) return
    ended(guest, call)
    const parts = [head, response, raw]
    const chars = head.length + response.length + raw.length
    if (chars < LARGE_CHARS && channel.queuedBytes() <= MAX_QUEUED_BYTES) {
      const { reply, body } = checkReply(parts, expected)
      return channel.send('reply', call, reply, body)
    }
    work(chars, async () => {
      await roomForLarge()
      const { reply, body } = await onMainThread(() => checkReply(parts, expected))
      channel.send('reply', call, reply, body)
    })
  }

  /** A call is over. With the last one go the timers, which no deadline would bound any more. */
  function ended({ runs, threaded, timers }: Guest, call: number): void {
    runs.delete(call)
    threaded.delete(call)
    // The guest clears them too, but it may have set others since.
    if (runs.size === 0) timers.clearAll()
  }

  /** Its calls go on threads from here on, and the host keeps those of their kind there for a time. */
  function heavy({ runs, threaded }: Guest): void {
    for (const call of runs.keys()) {
      if (threaded.has(call)) continue
      threaded.add(call)
      channel.send('heavy', call, {})
    }
  }

  async function describe({ call, head }: Message<'describe'>): Promise<void> {
    const connector = connectors.get(head.connector)
    if (!connector) die('description of an unknown connector')
    try {
      const { capabilities } = await guestFor(head.isolate, connector).ready
      channel.send('described', call, { capabilities })
    } catch (error) {
      broke(head.isolate, error)
    }
  }

  /** An isolate that could not be made, or from which no answer will come: it ends, all its calls too. */
  function broke(isolate: number, error: unknown, how?: 'memory' | 'cut' | 'failed'): void {
    const guest = guests.get(isolate)
    // Once only: the host ends every call of the isolate at the first word of it.
    if (!guest || guest.gone !== null) return
    buried.add(isolate)
    void end(isolate, guest)
    const message = String(error instanceof Error ? error.message : error).slice(0, 800)
    const why = /memory limit/i.test(message) ? 'memory' : guest.loaded ? 'failed' : 'load'
    const reason = how ?? why
    const at = bundlePositions(membersOf(error)['stack'])
    channel.send('disposed', 0, { isolate, reason, message, at })
  }

  function guestFor(isolate: number, connector: Connector): Guest {
    const known = guests.get(isolate)
    if (known) return known
    const timers = createTimers((id) => guest.made?.deliver(id, '{}', '', null))
    const guest: Guest = {
      ready: Promise.withResolvers<GuestIsolate>().promise,
      made: null,
      timers,
      requests: new Map(),
      asking: new Set(),
      runs: new Map(),
      threaded: new Set(),
      strays: [],
      loaded: false,
      calls: 0,
      end: () => {},
      gone: null,
    }
    const hooks: Hooks = {
      post: (op, id, headJson, body) => fromGuest(isolate, op, id, headJson, body),
      onCatastrophe: (message) => die(`catastrophe: ${message}`),
      onMade(end) {
        guest.end = end
        // It was told to end while it waited for its turn.
        if (guest.gone !== null) end()
      },
      onBox: (box) => takeBox(isolate, guest, box),
      onBroken: (error, why) => broke(isolate, error, why),
      onHeavy: () => heavy(guest),
      isThreaded: () => guest.threaded.size > 0,
      onStray: (reason, call) => logStray(guest, reason, call),
    }
    const share = slices.share()
    const { source, memoryMb } = connector
    const made = { ivm, prelude, connector: source, memoryMb, share, hooks }
    guest.ready = createGuestIsolate(made).then((one) => {
      guest.made = one
      guest.loaded = true
      return one
    })
    guests.set(isolate, guest)
    return guest
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
    if (op === 'timer_clear') return guest.timers.clear(id)
    if (op === 'log') return writeLog(guest, id, headJson)
    if (op === 'fetch_abort') {
      guest.asking.delete(id)
      const call = guest.requests.get(id)
      if (call !== undefined) channel.send('fetch_abort', call, { request: id })
      return
    }
    if (op !== 'fetch') return
    const isLarge = body.length >= LARGE_CHARS
    const queued = channel.queuedBytes() + (isLarge ? waitingChars : 0)
    if (!isLarge || queued > MAX_QUEUED_BYTES)
      return ask(isolate, guest, id, readRequest(id, headJson, body, queued))
    // Encoded one after the other, for all guests: many at once would take long.
    waitingChars += body.length
    guest.asking.add(id)
    const leave = () => {
      waitingChars -= body.length
      if (!guest.asking.delete(id) || guest.gone !== null) return
      ask(isolate, guest, id, readRequest(id, headJson, body, 0))
    }
    work(body.length, async () => {
      await roomForLarge()
      await onMainThread(leave).catch((error) => broke(isolate, error))
    })
  }

  /** Sends a request of a guest, or says why not. */
  function ask(isolate: number, guest: Guest, id: number, request: JudgedRequest): void {
    if ('message' in request) {
      const told = JSON.stringify({ ok: false, refused: request })
      // Not from within the entry that asked: a guest that asks again and again would never return.
      setImmediate(() => withGuest(isolate, (one) => one.deliver(id, told, '', null)))
      return
    }
    // Only for a call of its own: the host would ask in the name of another tenant.
    if (!guest.runs.has(request.call)) return
    guest.requests.set(id, request.call)
    if (!READS.has(request.head.method)) guest.threaded.add(request.call)
    channel.send('fetch', request.call, request.head, request.bytes)
  }

  function writeLog(guest: Guest, call: number, headJson: string): void {
    if (headJson.length > MAX_LOG_LENGTH || !guest.runs.has(call)) return
    const line: unknown = JSON.parse(headJson)
    // The host ends a worker for a line that is not one.
    if (v.is(WORKER_HEADS.log, line)) sendLog(call, line)
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
