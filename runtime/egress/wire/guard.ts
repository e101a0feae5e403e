/**
 * Enforces the limits of replies (bytes, items, values) on a connection between a server and the library that
 * speaks its protocol. Passes on complete, well-formed messages one by one, and ends the connection if a
 * server sends too much, or anything unrequested.
 */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { RuntimeError } from '../../contract/errors/errors.ts'

/** Limits of the reply to one operation. */
type Allowance = {
  /** Counts received bytes. May throw to end the reply. */
  onBytes(bytes: number): void
  /** Returns how long to wait before reading on, in milliseconds. */
  read(bytes: number): number
  /** Maximum number of items: entries and references of a directory, rows of a database. */
  maxItems: number
  /** Maximum size, in bytes. If absent, the framing's `maxReplyBytes`. */
  maxBytes?: number
}

/** For replies outside a call, such as those to a login or a reset. They count toward no call's budget. */
export const OUTSIDE_CALLS: Allowance = {
  onBytes: () => {},
  read: () => 0,
  maxItems: 0,
  maxBytes: 64 * 1024,
}

/** Counted contents of a message. */
export type Judged = {
  /** Number of values in it. Names and lists count as values. */
  values: number
  /** Whether it is a requested item. */
  isItem: boolean
  /** Whether it is passed on to the library. */
  passes: boolean
}

/** Framing of a protocol, and the judgement of its messages. */
type Framing = {
  /** Name of the protocol, for messages. */
  protocol: string
  /**
   * Returns the size of the message at an offset, in bytes; `short` if its head is incomplete, null if it is
   * invalid.
   */
  sizeOf(bytes: Buffer, at: number): number | 'short' | null
  /**
   * Judges the message from `at` to `stop`. Returns null if it is malformed, or of a kind that no client
   * receives.
   */
  judge(bytes: Buffer, at: number, stop: number): Judged | null
  /** Called when the counts are reset for another reply. */
  onRenew(): void
  maxReplyBytes: number
  maxReplyValues: number
  /** Advice for a reply that is too large. */
  advice: string
}

/** Socket that the library uses: the members of a socket that it needs. */
export class GuardedSocket extends EventEmitter {
  readonly connecting = false
  readonly readyState = 'open'
  /** Whether the library has paused reading. */
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
  /** Data written until `uncork` is sent together. */
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
  /** Admits replies until the returned function is called. */
  allow(allowance: Allowance): () => void
  /**
   * Stops reading until replies are admitted again. The answer to a request sent ahead waits outside this
   * process.
   */
  wait(): void
  /** Resets the counts for the next reply. Each page has its own limits. */
  renew(): void
  /** Returns the reason why this side ended the connection, or null. */
  failure(): RuntimeError | null
  isOpen(): boolean
  /** Ends the connection. An open operation fails with this error. */
  end(error?: RuntimeError): void
}

const NOTHING: Buffer = Buffer.alloc(0)
/** Smaller messages share their memory with others. */
const SMALL_BYTES = 4096

/**
 * Guards an open connection.
 *
 * @param from `host:port`, for messages.
 * @param inner Socket for the library.
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
  let [bytes, items, values] = [0, 0, 0]
  let header: Buffer = NOTHING
  /** The message being received, of its announced size. */
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
      `${from} answered with more than was asked for, or more than ${maxBytes()} bytes or ${framing.maxReplyValues} values: ${framing.advice}`,
    )

  function end(error?: RuntimeError): void {
    failure ??= error ?? null
    if (pause !== null) clearTimeout(pause)
    socket.destroy()
  }

  function receive(chunk: Buffer): void {
    if (allowance === null) return end(new RuntimeError('upstream_closed', `${from} was left`))
    bytes += chunk.length
    if (bytes > maxBytes()) return end(tooMuch())
    try {
      allowance.onBytes(chunk.length)
      splitMessages(chunk)
    } catch (error) {
      // The counting functions throw the error of the reply. Any other error is a bug, and also ends it.
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

  /**
   * Splits received data into messages. They are judged in place: a search has thousands, each of which would
   * need a view.
   */
  function splitMessages(chunk: Buffer): void {
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
          passOn(joined, at, at + total, true)
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
      passOn(whole, 0, whole.length, false)
    }
  }

  /**
   * @param isPart Whether the message shares its memory with others. Then it is copied, because the library
   * keeps parts of it.
   */
  function passOn(bytes: Buffer, at: number, stop: number, isPart: boolean): void {
    const judged = framing.judge(bytes, at, stop)
    if (judged === null) throw garbled()
    values += judged.values
    if (judged.isItem) items += 1
    if (values > framing.maxReplyValues || items > (allowance?.maxItems ?? 0)) throw tooMuch()
    if (judged.passes) inner.emit('data', isPart ? Buffer.from(bytes.subarray(at, stop)) : bytes)
  }

  function renew(): void {
    bytes = 0
    items = 0
    values = 0
    framing.onRenew()
  }

  socket.on('data', receive)
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
