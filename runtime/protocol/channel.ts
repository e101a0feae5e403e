/**
 * Messages over a pipe, in both directions. They are interleaved frame by frame, so that a small message
 * never waits for a large one (measured: 164 ms with 10 MB bodies otherwise). Each message has credit, and
 * the queue for a side that stopped reading is bounded.
 */
import type { Duplex } from 'node:stream'
import {
  announcedBytes,
  CREDIT,
  createFrameParser,
  decodeMessage,
  encodeHead,
  FIRST,
  FRAME_HEADER,
  type Frame,
  frameHeader,
  type Heads,
  LAST,
  MAX_FRAME_PAYLOAD,
  type Message,
  type MessageKind,
  ProtocolError,
} from './frames.ts'
import { createOutBuffer } from './out-buffer.ts'

export type ChannelLimits = {
  /** Maximum size of an accepted message, in bytes. */
  maxMessageBytes: number
  /** Maximum total size of partially received messages, in bytes. */
  maxPartialBytes: number
  /** Maximum total size of queued outgoing messages, in bytes. */
  maxQueuedBytes: number
  /** Maximum number of partially received messages. */
  maxStreams: number
}

export const CHANNEL_LIMITS: ChannelLimits = {
  maxMessageBytes: 34 * 1024 * 1024,
  maxPartialBytes: 256 * 1024 * 1024,
  maxQueuedBytes: 256 * 1024 * 1024,
  maxStreams: 4096,
}

/** Number of bytes of one message that may be in transit before the other side acknowledges some. */
const WINDOW_BYTES = 512 * 1024
/**
 * Writes of up to `JOINED_BYTES` are copied into one piece. From `FLUSHED_BYTES` on, pending frames are
 * written.
 */
const JOINED_BYTES = 16 * 1024
const FLUSHED_BYTES = 128 * 1024
const NOTHING: Buffer = Buffer.alloc(0)

export type Channel = {
  /**
   * Sends a message. `onSent` is called when the last frame is written; a message sent after that arrives
   * later. Otherwise, a small message may overtake a large one that was sent before it.
   */
  send<K extends MessageKind>(
    kind: K,
    call: number,
    head: Heads[K],
    body?: Buffer | string,
    onSent?: () => void,
  ): void
  /** Handles bytes read from a pipe that emits no `data` events. They are not retained. */
  hear(chunk: Buffer): void
  /** Returns the number of bytes waiting to be sent. */
  queuedBytes(): number
}

type Outgoing = {
  stream: number
  parts: Buffer[]
  left: number
  window: number
  started: boolean
  onSent: (() => void) | undefined
}
type Incoming = { bytes: Buffer; filled: number; uncredited: number }

/**
 * Opens a channel over a pipe. The body of a message is a view of the read buffer; copy it to keep it after
 * `onMessage` returns. `onBroken` is called once, with a ProtocolError if the other side broke the protocol,
 * or with the error thrown while a message was handled. Neither may affect more than this connection. The
 * caller ends the connection (the host kills the worker, a worker ends itself).
 */
export function openChannel(
  pipe: Duplex,
  onMessage: (message: Message) => void,
  onBroken: (error: Error) => void,
  limits: ChannelLimits = CHANNEL_LIMITS,
): Channel {
  const outgoing = new Map<number, Outgoing>()
  const incoming = new Map<number, Incoming>()
  let nextStream = 1
  let queued = 0
  let partial = 0
  let blocked = false
  let scheduled = false
  let broken = false
  const out = createOutBuffer(pipe)

  const fail = (error: Error) => {
    if (broken) return
    broken = true
    outgoing.clear()
    incoming.clear()
    onBroken(error)
  }

  /** Runs `act`. An error breaks this connection only: no caller above a pipe's events could catch it. */
  const contain = (act: () => void) => {
    if (broken) return
    try {
      act()
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  const parse = createFrameParser((frame) => receive(frame))
  function hear(chunk: Buffer) {
    contain(() => {
      parse(chunk)
      // Send the answers to this chunk's messages together, before the end of the tick.
      if (out.used > 0 && !blocked) flush()
    })
  }
  pipe.on('data', hear)
  pipe.on('drain', () => {
    blocked = false
    schedule()
  })

  function receive({ flags, stream, payload }: Frame) {
    if (broken) return
    if (flags === CREDIT) return credit(stream, payload)
    if (flags > (FIRST | LAST)) throw new ProtocolError(`flags ${flags}`)
    const known = incoming.get(stream)
    if ((flags & FIRST) !== 0) {
      if (known) throw new ProtocolError('stream begun twice')
      return begin(stream, payload, (flags & LAST) !== 0)
    }
    if (!known) throw new ProtocolError('frame of an unknown stream')
    if (known.filled + payload.length > known.bytes.length) throw new ProtocolError('too long')
    payload.copy(known.bytes, known.filled)
    known.filled += payload.length
    known.uncredited += payload.length
    if ((flags & LAST) !== 0) return finish(stream, known)
    if (known.uncredited < WINDOW_BYTES / 2) return
    const grant = Buffer.allocUnsafe(4)
    grant.writeUInt32LE(known.uncredited, 0)
    known.uncredited = 0
    write([frameHeader(4, CREDIT, stream), grant], FRAME_HEADER + 4)
  }

  function begin(stream: number, payload: Buffer, whole: boolean) {
    const size = announcedBytes(payload)
    if (size > limits.maxMessageBytes) throw new ProtocolError(`message of ${size} bytes`)
    if (whole) {
      if (size !== payload.length) throw new ProtocolError('length does not add up')
      onMessage(decodeMessage(payload))
      return
    }
    if (payload.length > size) throw new ProtocolError('too long')
    partial += size
    if (partial > limits.maxPartialBytes) throw new ProtocolError('too much half received')
    if (incoming.size >= limits.maxStreams) throw new ProtocolError('too many messages at once')
    const bytes = Buffer.allocUnsafe(size)
    payload.copy(bytes)
    incoming.set(stream, { bytes, filled: payload.length, uncredited: payload.length })
  }

  function finish(stream: number, message: Incoming) {
    if (message.filled !== message.bytes.length) throw new ProtocolError('ended early')
    incoming.delete(stream)
    partial -= message.bytes.length
    onMessage(decodeMessage(message.bytes))
  }

  function credit(stream: number, payload: Buffer) {
    if (payload.length !== 4) throw new ProtocolError('credit frame')
    const message = outgoing.get(stream)
    // The last frame may have been sent before the credit for an earlier one arrived.
    if (!message) return
    message.window = Math.min(WINDOW_BYTES, message.window + payload.readUInt32LE(0))
    schedule()
  }

  function write(parts: Buffer[], bytes: number) {
    // Few bytes in many parts cost more to hand over than to copy.
    const joined = bytes <= JOINED_BYTES ? [Buffer.concat(parts, bytes)] : parts
    if (joined.length > 1) pipe.cork()
    for (const part of joined) if (!pipe.write(part)) blocked = true
    if (joined.length > 1) pipe.uncork()
  }

  function schedule() {
    if (scheduled || blocked || broken || (outgoing.size === 0 && out.used === 0)) return
    scheduled = true
    // Deferred, so that messages sent together leave in one system call. Not to `nextTick`: callbacks of
    // isolated-vm do not run that queue, and the message would stay until another event.
    setImmediate(contain, flush)
  }

  function flush() {
    scheduled = false
    if (blocked) return
    if (!out.flush()) blocked = true
    if (outgoing.size === 0) return
    let parts: Buffer[] = []
    let bytes = 0
    const sent: (() => void)[] = []
    // After a frame, a message moves to the end of the queue. The same loop reaches it again.
    for (const message of outgoing.values()) {
      if (blocked) break
      if (message.window <= 0) continue
      bytes += addFrame(message, parts)
      if (message.left === 0 && message.onSent) sent.push(message.onSent)
      if (bytes < FLUSHED_BYTES) continue
      write(parts, bytes)
      parts = []
      bytes = 0
    }
    if (bytes > 0) write(parts, bytes)
    // Not earlier: messages that these callbacks send may leave at once.
    for (const onSent of sent) onSent()
  }

  /** Adds the next frame of a message to `parts`. @returns its length, in bytes */
  function addFrame(message: Outgoing, parts: Buffer[]): number {
    const size = Math.min(MAX_FRAME_PAYLOAD, message.left)
    message.left -= size
    message.window -= size
    queued -= size
    const last = message.left === 0
    const flags = (message.started ? 0 : FIRST) | (last ? LAST : 0)
    message.started = true
    outgoing.delete(message.stream)
    if (!last) outgoing.set(message.stream, message)
    parts.push(frameHeader(size, flags, message.stream), ...take(message.parts, size))
    return FRAME_HEADER + size
  }

  function takeStream(): number {
    const stream = nextStream
    nextStream = (nextStream % 0xffffffff) + 1
    return stream
  }

  /**
   * Batches a message that fits into one frame with others of this tick.
   *
   * @returns false if it must be queued
   */
  function collect(kind: MessageKind, call: number, head: unknown, body: Buffer | string): boolean {
    if (blocked || outgoing.size > 0) return false
    if (out.add(nextStream, kind, call, head, body)) return takeStream() > 0
    if (out.used === 0) return false
    if (!out.flush()) blocked = true
    return !blocked && out.add(nextStream, kind, call, head, body) && takeStream() > 0
  }

  return {
    hear,
    send(kind, call, head, given = NOTHING, onSent) {
      if (broken) return
      if (onSent === undefined && collect(kind, call, head, given)) return schedule()
      const body = typeof given === 'string' ? Buffer.from(given) : given
      const first = encodeHead(kind, call, head, body.length)
      const left = first.length + body.length
      queued += left
      if (queued > limits.maxQueuedBytes) {
        fail(new ProtocolError('the other side stopped reading'))
        return
      }
      const stream = takeStream()
      const parts = body.length === 0 ? [first] : [first, body]
      outgoing.set(stream, { stream, parts, left, window: WINDOW_BYTES, started: false, onSent })
      schedule()
    },
    queuedBytes: () => queued + out.used + pipe.writableLength,
  }
}

/** Removes and returns the next `size` bytes of a list of parts, without copying them. */
function take(parts: Buffer[], size: number): Buffer[] {
  const taken: Buffer[] = []
  let left = size
  while (left > 0) {
    const [first] = parts
    if (first === undefined) break
    if (first.length > left) {
      taken.push(first.subarray(0, left))
      parts[0] = first.subarray(left)
      return taken
    }
    taken.push(first)
    parts.shift()
    left -= first.length
  }
  return taken
}
