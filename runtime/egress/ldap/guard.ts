/**
 * Stands between a connection and the library: hands over whole, well-formed messages one by one, counts them, and
 * ends the connection when a server sends more than may be, or what nobody asked for.
 */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { LDAP_LIMITS } from '../../contract/connector/ldap.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { hasMorePages, readHeader, shapeOf } from './shape.ts'

/** What the reply to one operation may take. */
export type Allowance = {
  /** Counts bytes as they come; may throw to end the reply. */
  onBytes(bytes: number): void
  /** Says how long to wait before reading on, in milliseconds. */
  read(bytes: number): number
  /** Most entries and references. */
  maxEntries: number
}

/** The side of the library: the part of a socket that it uses. */
export class GuardedSocket extends EventEmitter {
  readonly connecting = false
  readonly readyState = 'open'
  id?: string
  readonly #socket: Socket

  constructor(socket: Socket) {
    super()
    this.#socket = socket
  }
  write(bytes: Buffer, done?: () => void): boolean {
    return this.#socket.write(bytes, () => done?.())
  }
  end(): void {
    this.#socket.end()
  }
  destroy(): void {
    this.#socket.destroy()
  }
}

export type Guard = {
  socket: GuardedSocket
  /** Lets replies in until the function that it gives is called. */
  allow(allowance: Allowance): () => void
  /** Counts the next reply from nothing: each page has its own limits. */
  renew(): void
  /** Whether the last result said that there are further pages. */
  hasMore(): boolean
  /** Why the connection was ended from here; null otherwise. */
  failure(): RuntimeError | null
  isOpen(): boolean
  /** Ends the connection; an operation that is open fails with this error. */
  end(error?: RuntimeError): void
}

/** Guards an open connection. @param from `host:port`, for messages. */
export function createGuard(socket: Socket, from: string): Guard {
  const inner = new GuardedSocket(socket)
  let failure: RuntimeError | null = null
  let open = true
  let allowance: Allowance | null = null
  let [bytes, entries, elements] = [0, 0, 0]
  let header: Buffer = Buffer.alloc(0)
  /** The message that is being received, as long as it announced itself to be. */
  let message: Buffer | null = null
  let filled = 0
  let pause: NodeJS.Timeout | null = null
  let more = false

  function end(error?: RuntimeError): void {
    failure ??= error ?? null
    if (pause !== null) clearTimeout(pause)
    socket.destroy()
  }

  function take(chunk: Buffer): void {
    if (allowance === null) return end(new RuntimeError('upstream_closed', `${from} was left`))
    bytes += chunk.length
    if (bytes > LDAP_LIMITS.maxReplyBytes) return end(tooMuch(from))
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
    pause = setTimeout(() => socket.resume(), waitMs)
  }

  /** Cuts what came into messages. */
  function cut(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0 && !socket.destroyed) {
      if (message === null) {
        const joined: Buffer = header.length === 0 ? rest : Buffer.concat([header, rest])
        const sizes = readHeader(joined.subarray(0, 6))
        if (sizes === null || joined[0] !== 0x30) throw garbled(from)
        if (sizes === 'short') {
          header = Buffer.from(joined)
          return
        }
        const total = sizes.headerBytes + sizes.contentBytes
        if (total > LDAP_LIMITS.maxReplyBytes) throw tooMuch(from)
        header = Buffer.alloc(0)
        message = Buffer.allocUnsafeSlow(total)
        filled = 0
        rest = joined
      }
      const taken = rest.copy(message, filled)
      filled += taken
      rest = rest.subarray(taken)
      if (filled < message.length) return
      const whole = message
      message = null
      hand(whole)
    }
  }

  function hand(whole: Buffer): void {
    const shape = shapeOf(whole)
    if (shape === null) throw garbled(from)
    elements += shape.elements
    if (shape.kind === 'result') more = hasMorePages(whole)
    else entries += 1
    if (elements > LDAP_LIMITS.maxReplyElements || entries > (allowance?.maxEntries ?? 0))
      throw tooMuch(from)
    inner.emit('data', whole)
  }

  function renew(): void {
    bytes = 0
    entries = 0
    elements = 0
    more = false
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
      return () => {
        allowance = null
      }
    },
    renew,
    hasMore: () => more,
    failure: () => failure,
    isOpen: () => open && !socket.destroyed,
    end,
  }
}

const garbled = (from: string): RuntimeError =>
  new RuntimeError('upstream_garbled', `${from} did not answer with valid LDAP`)

const tooMuch = (from: string): RuntimeError =>
  new RuntimeError(
    'upstream_too_large',
    `${from} answered with more than was asked for, or more than ${LDAP_LIMITS.maxReplyBytes} bytes or ${LDAP_LIMITS.maxReplyElements} values: ask for smaller pages or fewer attributes`,
  )
