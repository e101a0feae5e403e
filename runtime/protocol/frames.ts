/**
 * Messages between the host and a worker, split into frames with payloads of at most 64 KiB.
 *
 * A frame is `u32 payload length | u8 flags | u32 stream | payload` (little endian). A stream carries one
 * message; its first frame begins with `u8 kind | u32 call | u32 head length | u32 body length`. The head is
 * JSON. The body is bytes, and is never parsed on the way. The other side is treated as hostile: every field
 * is checked, and a violation ends the connection.
 */

import type { Position } from '../contract/errors/position.ts'
import { INPUTS } from '../contract/limits/inputs.ts'
import { marksIn, type ReplyLimits } from '../contract/limits/reply-limits.ts'
import { entriesOf } from '../contract/schema/keys.ts'

export const MAX_FRAME_PAYLOAD = 64 * 1024
export const FRAME_HEADER = 9
export const MESSAGE_HEADER = 13

export const FIRST = 1
export const LAST = 2
export const CREDIT = 4

/** Message kinds, host to worker and worker to host. The number is the byte on the wire. */
export const KINDS = {
  // host -> worker
  load: 1,
  call: 2,
  fetched: 3,
  cancel: 4,
  ping: 5,
  dispose: 6,
  describe: 7,
  // worker -> host
  ready: 16,
  reply: 17,
  fetch: 18,
  fetch_abort: 19,
  log: 20,
  pong: 21,
  disposed: 22,
  described: 23,
  heavy: 24,
  working: 25,
  taken: 26,
} as const

export type MessageKind = keyof typeof KINDS

const KIND_OF = new Map<number, MessageKind>(entriesOf(KINDS).map(([name, byte]) => [byte, name]))

/** Heads of the messages, by kind. `call` is the host's call id, or 0 if there is none. */
export type Heads = {
  /** Body: the connector's bundle. */
  load: { connector: string; memoryMb: number; responseFields: Record<string, unknown> }
  /** Body: the call's JSON. */
  call: {
    connector: string
    isolate: number
    capability: string
    raw: boolean
    /** Whether the connector's code runs on its own thread, not in slices of the worker's main thread. */
    threaded: boolean
    /** Set if the host itself parses the reply. */
    limits?: ReplyLimits | undefined
  }
  fetched: {
    isolate: number
    request: number
    /** Of a large body. The worker answers with `taken` when the body is in the guest. */
    ticket?: number
    reply:
      | { status: number; url: string; redirected: boolean; headers: [string, string][] }
      | {
          error: {
            code: string
            message: string
            raised_by: string
            status_code: number | null
            app_error_code: string | null
          }
        }
  }
  cancel: { isolate: number }
  ping: { isolate: number }
  dispose: { isolate: number }
  /** Loads the connector and asks which capabilities its code implements. */
  describe: { connector: string; isolate: number }
  ready: { version: string }
  /** Body: the response's JSON text, then the raw data's. */
  reply: Reply
  /** Body: the request's bytes. */
  fetch: {
    request: number
    url: string
    method: string
    headers: [string, string][]
    redirect: 'follow' | 'manual' | 'error'
    hasBody: boolean
  }
  fetch_abort: { request: number }
  log: { level: 'debug' | 'info' | 'warn' | 'error'; message: string; fields: unknown }
  pong: { isolate: number }
  disposed: {
    isolate: number
    /** `cut`: a slice on the worker's main thread took too long. None of the isolate's calls is blamed. */
    reason: 'asked' | 'memory' | 'load' | 'failed' | 'cut'
    message: string
    /** Position in the bundle where the error was thrown, if known. */
    at: Position[]
  }
  described: { capabilities: string[] }
  /** The call has used more than its share of the worker's main thread. */
  heavy: Record<string, never>
  /**
   * The worker is about to work on this many characters, and reads no messages during that time. 0: it is
   * done.
   */
  working: { chars: number }
  /** A large body is in the guest, and takes no more memory of the worker. */
  taken: { ticket: number }
}

/** Result of a call, as the worker saw it. */
export type Reply =
  | {
      ok: true
      cursorJson: string
      responseBytes: number
      /** Number of accounts removed from the list because of their status. */
      leftOut?: number | undefined
      /** Whether the response is a table: see tables.ts. */
      isTable?: boolean | undefined
    }
  | { ok: false; error: GuestError }
  /** The handler did not catch an error of ctx.fetch. The host has its own record of that request. */
  | { ok: false; fetch: number }
  /** The worker refused the reply, or could not run the handler. */
  | {
      ok: false
      refused: 'reply_invalid' | 'reply_too_large' | 'cursor_too_large'
      message: string
    }

/** Error of a connector. */
export type GuestError = {
  code: string
  message: string
  app_error_code: string | null
  status_code: number | null
  raised_by: string | null
  /** Positions in the bundle where an error other than a ConnectorError was thrown, the innermost first. */
  at: Position[]
}

/** A complete message. */
export type Message<K extends MessageKind = MessageKind> = {
  [N in K]: {
    kind: N
    call: number
    head: Heads[N]
    body: Buffer
    /**
     * Number of bytes of this message directly before its body. They have been read and may be overwritten.
     */
    roomBytes: number
  }
}[K]

/** Violation of the protocol by the other side. The connection cannot continue. */
export class ProtocolError extends Error {}

/** Encodes a message's first bytes: everything but the body. */
export function encodeHead(
  kind: MessageKind,
  call: number,
  head: unknown,
  bodyBytes: number,
): Buffer {
  const json = Buffer.from(JSON.stringify(head))
  const bytes = Buffer.allocUnsafe(MESSAGE_HEADER + json.length)
  bytes[0] = KINDS[kind]
  bytes.writeUInt32LE(call, 1)
  bytes.writeUInt32LE(json.length, 5)
  bytes.writeUInt32LE(bodyBytes, 9)
  json.copy(bytes, MESSAGE_HEADER)
  return bytes
}

/** Returns the length that a message's first frame announces, header included. @throws ProtocolError */
export function announcedBytes(first: Buffer): number {
  if (first.length < MESSAGE_HEADER) throw new ProtocolError('first frame too short')
  return MESSAGE_HEADER + first.readUInt32LE(5) + first.readUInt32LE(9)
}

/** Decodes a complete message. @throws ProtocolError if it is malformed or its head is too large */
export function decodeMessage(bytes: Buffer): Message {
  const kind = KIND_OF.get(bytes[0] ?? -1)
  if (kind === undefined) throw new ProtocolError(`unknown kind ${bytes[0]}`)
  const bodyStart = MESSAGE_HEADER + bytes.readUInt32LE(5)
  if (bodyStart > bytes.length)
    throw new ProtocolError(`head of ${kind} is longer than its message`)
  const text = bytes.subarray(MESSAGE_HEADER, bodyStart)
  const { maxBytes, maxMarks } = INPUTS.worker_head
  const hasRoom = text.length <= maxMarks || marksIn(text, maxMarks) <= maxMarks
  if (text.length > maxBytes || !hasRoom) throw new ProtocolError(`head of ${kind} is too large`)
  let head: unknown
  try {
    head = JSON.parse(text.toString('utf8'))
  } catch (cause) {
    throw new ProtocolError(`head of ${kind} is not JSON`, { cause })
  }
  if (typeof head !== 'object' || head === null) throw new ProtocolError(`head of ${kind}`)
  // The cast: the receiver validates the head by the schema of its kind.
  return {
    kind,
    call: bytes.readUInt32LE(1),
    head,
    body: bytes.subarray(bodyStart),
    roomBytes: bodyStart,
  } as Message
}

/** Encodes one frame's header. */
export function frameHeader(length: number, flags: number, stream: number): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER)
  bytes.writeUInt32LE(length, 0)
  bytes[4] = flags
  bytes.writeUInt32LE(stream, 5)
  return bytes
}

export type Frame = { flags: number; stream: number; payload: Buffer }

/**
 * Splits a byte stream into frames, independent of chunk boundaries. A payload is a view of the chunk, or of
 * its own buffer if the frame arrived in several chunks. Throws ProtocolError on an oversized frame.
 */
export function createFrameParser(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  /** Header of an incomplete frame, until its length is known. */
  const header = Buffer.allocUnsafeSlow(FRAME_HEADER)
  /** The incomplete frame, once its length is known. */
  let frame: Buffer | null = null
  let carried = 0

  /** Copies the missing bytes of the incomplete frame. @returns bytes taken from the chunk */
  function complete(chunk: Buffer): number {
    let at = 0
    if (frame === null) {
      at = chunk.copy(header, carried)
      carried += at
      if (carried < FRAME_HEADER) return at
      frame = Buffer.allocUnsafeSlow(frameBytes(header, 0))
      header.copy(frame)
    }
    const taken = chunk.copy(frame, carried, at)
    carried += taken
    if (carried < frame.length) return at + taken
    const whole = frame
    frame = null
    carried = 0
    onFrame(frameAt(whole, 0, whole.length))
    return at + taken
  }

  return (chunk) => {
    let at = carried === 0 ? 0 : complete(chunk)
    while (chunk.length - at >= FRAME_HEADER) {
      const end = at + frameBytes(chunk, at)
      if (end > chunk.length) break
      onFrame(frameAt(chunk, at, end))
      at = end
    }
    if (at < chunk.length) complete(chunk.subarray(at))
  }
}

/** Returns the length of the frame at an offset, header included. */
function frameBytes(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at)
  if (length > MAX_FRAME_PAYLOAD) throw new ProtocolError(`frame of ${length} bytes`)
  return FRAME_HEADER + length
}

const frameAt = (bytes: Buffer, at: number, end: number): Frame => ({
  flags: bytes.readUInt8(at + 4),
  stream: bytes.readUInt32LE(at + 5),
  payload: bytes.subarray(at + FRAME_HEADER, end),
})
