/**
 * Stands between a connection and the library that speaks its protocol: hands over whole, well-formed messages one by
 * one, counts them, and ends the connection when a server sends more than may be, or what nobody asked for.
 */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { RuntimeError } from '../../contract/errors/errors.ts'

/** What the reply to one operation may take. */
type Allowance = {
  /** Counts bytes as they come; may throw to end the reply. */
  onBytes(bytes: number): void
  /** Says how long to wait before reading on, in milliseconds. */
  read(bytes: number): number
  /** Most items: entries and references of a directory, rows of a database. */
  maxItems: number
  /** Most bytes; as many as any reply may have unless it is said. */
  maxBytes?: number
}

/** For replies outside a call, such as those to a login or a reset: no call pays for them. */
export const OUTSIDE_CALLS: Allowance = {
  onBytes: () => {},
  read: () => 0,
  maxItems: 0,
  maxBytes: 64 * 1024,
}

/** What a message holds, as far as it is counted. */
export type Judged = {
  /** Values, names and lists in it. */
  elements: number
  /** Whether it is one of what was asked for. */
  isItem: boolean
  /** Whether the library is to see it. */
  passes: boolean
}

/** How the messages of a protocol are told apart and judged. */
type Framing = {
  /** Its name, for messages. */
  protocol: string
  /** Bytes of the message that begins at a place; `short` where more are needed, null where it cannot begin so. */
  sizeOf(bytes: Buffer, at: number): number | 'short' | null
  /** Null for a message, which lies between two places, that is malformed, or that no client gets. */
  judge(bytes: Buffer, at: number, stop: number): Judged | null
  /** The count begins again: another reply is awaited. */
  onRenew(): void
  maxReplyBytes: number
  maxReplyElements: number
  /** What to do about a reply that is too large. */
  advice: string
}

/** The side of the library: the part of a socket that it uses. */
export class GuardedSocket extends EventEmitter {
  readonly connecting = false
  readonly readyState = 'open'
  /** Whether the library has asked for nothing more for now. */
  isHeld = false
  id?: string
  readonly #socket: Socket

  constructor(socket: Socket) {
    super()
    this.#socket = socket
  }
  get writable(): boolean {
    return this.#socket.writable
  }
  write(bytes: Buffer, done?: () => void): boolean {
    return this.#socket.write(bytes, () => done?.())
  }
  /** What is written from here to `uncork` goes at once. */
  cork(): void {
    this.#socket.cork()
  }
  uncork(): void {
    this.#socket.uncork()
  }
  end(): void {
    this.#socket.end()
  }
  destroy(): void {
    this.#socket.destroy()
  }
}

export type Guard<S extends GuardedSocket = GuardedSocket> = {
  socket: S
  /** Lets replies in until the function that it gives is called. */
  allow(allowance: Allowance): () => void
  /** Reads nothing until replies are let in again: what was asked for ahead waits outside of this process. */
  wait(): void
  /** Counts the next reply from nothing: each page has its own limits. */
  renew(): void
  /** Why the connection was ended from here; null otherwise. */
  failure(): RuntimeError | null
  isOpen(): boolean
  /** Ends the connection; an operation that is open fails with this error. */
  end(error?: RuntimeError): void
}

const NOTHING: Buffer = Buffer.alloc(0)
/** Below this a message shares its memory with others. */
const SMALL_BYTES = 4096

/**
 * Guards an open connection.
 *
 * @param from `host:port`, for messages.
 * @param inner What the library gets as its socket.
 */
export function createGuard<S extends GuardedSocket>(
  socket: Socket,
  from: string,
  framing: Framing,
  inner: S,
): Guard<S> {
  let failure: RuntimeError | null = null
  let open = true
  let allowance: Allowance | null = null
  let [bytes, items, elements] = [0, 0, 0]
  let header: Buffer = NOTHING
  /** The message that is being received, as long as it announced itself to be. */
  let message: Buffer | null = null
  let filled = 0
  let pause: NodeJS.Timeout | null = null
  let isWaiting = false

  const garbled = (): RuntimeError =>
    new RuntimeError('upstream_garbled', `${from} did not answer with valid ${framing.protocol}`)
  const maxBytes = (): number => allowance?.maxBytes ?? framing.maxReplyBytes
  const tooMuch = (): RuntimeError =>
    new RuntimeError(
      'upstream_too_large',
      `${from} answered with more than was asked for, or more than ${maxBytes()} bytes or ${framing.maxReplyElements} values: ${framing.advice}`,
    )

  function end(error?: RuntimeError): void {
    failure ??= error ?? null
    if (pause !== null) clearTimeout(pause)
    socket.destroy()
  }

  function take(chunk: Buffer): void {
    if (allowance === null) return end(new RuntimeError('upstream_closed', `${from} was left`))
    bytes += chunk.length
    if (bytes > maxBytes()) return end(tooMuch())
    try {
      allowance.onBytes(chunk.length)
      cut(chunk)
    } catch (error) {
      // What counts throws what the reply fails with; anything else is a defect, and ends it too.
      return end(
        error instanceof RuntimeError
          ? error
          : new RuntimeError('internal', `the reply of ${from} could not be read`, {}, error),
      )
    }
    const waitMs = allowance?.read(chunk.length) ?? 0
    if (waitMs <= 0 || socket.destroyed) return
    socket.pause()
    pause = setTimeout(() => {
      pause = null
      readOn()
    }, waitMs)
  }

  function readOn(): void {
    if (pause === null && !isWaiting && !inner.isHeld) socket.resume()
  }

  /** Cuts what came into messages. They are judged where they lie: a search has thousands, and views of them would be as many. */
  function cut(chunk: Buffer): void {
    const joined = header.length === 0 ? chunk : Buffer.concat([header, chunk])
    header = NOTHING
    let at = 0
    while (at < joined.length && !socket.destroyed) {
      if (message === null) {
        const total = framing.sizeOf(joined, at)
        if (total === null) throw garbled()
        if (total === 'short') {
          header = Buffer.from(joined.subarray(at))
          return
        }
        if (total > maxBytes()) throw tooMuch()
        if (joined.length - at >= total) {
          hand(joined, at, at + total, true)
          at += total
          continue
        }
        message = total < SMALL_BYTES ? Buffer.allocUnsafe(total) : Buffer.allocUnsafeSlow(total)
        filled = 0
      }
      const taken = joined.copy(message, filled, at)
      filled += taken
      at += taken
      if (filled < message.length) return
      const whole = message
      message = null
      hand(whole, 0, whole.length, false)
    }
  }

  /** @param isPart Whether it lies in memory that others share: the library keeps parts of what it gets. */
  function hand(bytes: Buffer, at: number, stop: number, isPart: boolean): void {
    const judged = framing.judge(bytes, at, stop)
    if (judged === null) throw garbled()
    elements += judged.elements
    if (judged.isItem) items += 1
    if (elements > framing.maxReplyElements || items > (allowance?.maxItems ?? 0)) throw tooMuch()
    if (judged.passes) inner.emit('data', isPart ? Buffer.from(bytes.subarray(at, stop)) : bytes)
  }

  function renew(): void {
    bytes = 0
    items = 0
    elements = 0
    framing.onRenew()
  }

  socket.on('data', take)
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= new RuntimeError(
      'upstream_closed',
      `${from} closed the connection in the middle${error.code ? ` (${error.code})` : ''}`,
    )
  })
  socket.on('end', () => socket.destroy())
  socket.on('close', () => {
    open = false
    if (pause !== null) clearTimeout(pause)
    inner.emit('close')
  })

  return {
    socket: inner,
    allow(given) {
      allowance = given
      renew()
      if (isWaiting) {
        isWaiting = false
        readOn()
      }
      return () => {
        allowance = null
      }
    },
    wait() {
      isWaiting = true
      socket.pause()
    },
    renew,
    failure: () => failure,
    isOpen: () => open && !socket.destroyed,
    end,
  }
}
