/**
 * The worker: a disposable process that only runs isolates. It carries out the host's messages and decides
 * nothing. Which isolate serves which tenant, what may be fetched and how long a call may take are decided by
 * the host.
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
import { createTimers, type Timers } from './timers.ts'
import { strayLine } from './unhandled-rejections.ts'
import type { GuestIsolate, Hooks } from './verbs.ts'

type Guest = {
  ready: Promise<GuestIsolate>
  /** The isolate of `ready`, once it has been made. */
  made: GuestIsolate | null
  timers: Timers
  /** Open requests of the guest, each with the call that made it. */
  requests: Map<number, number>
  /** Large requests that have not been sent yet because the worker is busy. */
  asking: Set<number>
  /** Calls that have not settled, each with the requirements on its reply. */
  runs: Map<number, ReplyExpectation>
  /**
   * Calls that keep the guest off the main thread: the host requires it, they take too long, or they have
   * sent a request that must not be sent twice, so that the guest must not be cut.
   */
  threaded: Set<number>
  /** Log lines of strays that came while no call ran, as at the top level. The next call logs them. */
  strays: Heads['log'][]
  loaded: boolean
  /** Number of calls so far. */
  calls: number
  /** Ends the isolate, even while it is being made. */
  end: () => void
  /** Set when the isolate was told to end. Resolves when none of its threads is left. */
  gone: Promise<void> | null
}

/** Longest log line of a guest, in characters of JSON. */
const MAX_LOG_LENGTH = 128 * 1024

/** Number of first calls of an isolate that run on threads: code that has never run is slow. */
const COLD_CALLS = 2

/** Methods of requests that may be sent twice. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', LDAP_METHODS.search, SQL_METHODS.query])

/** Maximum number of stray lines that wait for a call. */
const MAX_WAITING_STRAYS = 8

/**
 * Size of a text, in characters, from which handling it takes some milliseconds. The host is told before such
 * a reply is checked or such a body is copied in or out.
 */
const LARGE_CHARS = 1024 * 1024

/**
 * Serves the host's messages until the pipe ends.
 *
 * @returns a function that takes the read bytes if the pipe emits no `data` events
 */
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
  /**
   * Isolates that have ended. A call that crossed `disposed` must not make one again: nothing would end it.
   */
  const buried = new Set<number>()
  /** Total size of the requests that wait for their turn to be sent. */
  let waitingChars = 0

  const channel = openChannel(
    pipe,
    // The cast: the handler of this kind takes messages of this kind.
    (message) => HANDLERS[message.kind]?.(message as never),
    (error) => die(`protocol: ${error.message}`),
  )

  const { work, roomForLarge } = createLargeWork(channel, pipe)

  /** Handlers of the messages that a worker takes. Other kinds are not meant for a worker. */
  const HANDLERS: { [K in Message['kind']]?: (message: Message<K>) => void } = {
    load: ({ head, body }) => {
      const code = body.toString('utf8')
      connectors.set(
        head.connector,
        createConnector(head.connector, code, head.memoryMb, head.responseFields),
      )
    },
    // Read the bytes before the first await: they are in the pipe's buffer.
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
      // Two portions, as each takes long. The bytes of a large body are not in the pipe's buffer.
      work(message.body.length, async () => {
        const text = await onMainThread(() => textOf(message))
        await onMainThread(() => bring(text))
      })
    },
    cancel: ({ head, call }) => withGuest(head.isolate, (guest) => guest.abort(call)),
    ping: ({ head }) => {
      if (head.isolate === MAIN_THREAD) return channel.send('pong', 0, head)
      // No answer on failure: the host's timeout decides.
      withGuest(head.isolate, (guest) =>
        guest.ping().then(() => channel.send('pong', 0, head), dieUnlessDisposed),
      )
    },
    dispose: ({ head }) => dispose(head.isolate),
  }

  function withGuest(isolate: number, use: (guest: GuestIsolate) => unknown): void {
    const guest = guests.get(isolate)
    if (guest?.made) return void use(guest.made)
    // If the isolate could not be made, the call that needed it has reported that.
    guest?.ready.then(use, () => {}).catch(dieUnlessDisposed)
  }

  /** Ignores a verb that came too late for its isolate: `disposed` tells the host about the end. */
  function dieUnlessDisposed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error)
    if (!/disposed/i.test(text)) die(`a verb failed: ${text}`)
  }

  /**
   * Ends an isolate at the host's request. Confirms only when it has really ended, which means that every run
   * has settled. A thread in a native loop never does.
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
    // The host knows, or will learn, that the isolate has ended, and ends the call.
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

  /** Handles the messages in the box of an entry. */
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

  /** Ends a call. The last call clears the timers, because no deadline would bound them any more. */
  function ended({ runs, threaded, timers }: Guest, call: number): void {
    runs.delete(call)
    threaded.delete(call)
    // The guest clears its timers too, but may have set others since.
    if (runs.size === 0) timers.clearAll()
  }

  /** Moves the guest's calls to threads. The host then keeps calls of the same kind there for a time. */
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

  /** Ends an isolate that could not be made or that can give no more answers, and all its calls. */
  function broke(isolate: number, error: unknown, how?: 'memory' | 'cut' | 'failed'): void {
    const guest = guests.get(isolate)
    // Only once: the host ends every call of the isolate at the first `disposed`.
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
        // The isolate was told to end while it waited for its turn.
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

  /** Handles a post. The prelude made it, but a guest may have tampered with the prelude's parts. */
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
      // Without a call, no deadline would bound what the timer starts.
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
    // Large bodies are encoded one after another for all guests: many at once would block the main thread.
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

  /** Sends a request of a guest, or tells the guest why it was refused. */
  function ask(isolate: number, guest: Guest, id: number, request: JudgedRequest): void {
    if ('message' in request) {
      const refusal = JSON.stringify({ ok: false, refused: request })
      // Not within the entry that asked: a guest that asks in a loop would never return.
      setImmediate(() => withGuest(isolate, (one) => one.deliver(id, refusal, '', null)))
      return
    }
    // Only for a call of this guest. Otherwise the host would send the request in the name of another tenant.
    if (!guest.runs.has(request.call)) return
    guest.requests.set(id, request.call)
    if (!READS.has(request.head.method)) guest.threaded.add(request.call)
    channel.send('fetch', request.call, request.head, request.bytes)
  }

  function writeLog(guest: Guest, call: number, headJson: string): void {
    if (headJson.length > MAX_LOG_LENGTH || !guest.runs.has(call)) return
    const line: unknown = JSON.parse(headJson)
    // The host ends a worker that sends an invalid line.
    if (v.is(WORKER_HEADS.log, line)) sendLog(call, line)
  }

  function sendLog(call: number, line: Heads['log']): void {
    if (channel.queuedBytes() <= MAX_QUEUED_BYTES) channel.send('log', call, line)
  }

  /** Logs a stray for the call of its turn, else for the call that began last, else for the next call. */
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
