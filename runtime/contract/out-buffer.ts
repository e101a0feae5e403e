/**
 * Where messages of one frame are written one behind the other, to leave in one write: some twelve of them at 32
 * callers. A text goes straight into it, without a buffer of its own.
 */
import type { Duplex } from 'node:stream'
import {
  FIRST,
  FRAME_HEADER,
  KINDS,
  type Kind,
  LAST,
  MAX_FRAME_PAYLOAD,
  MESSAGE_HEADER,
} from './frames.ts'

/** Size of the buffer, in bytes. */
const OUT_BYTES = 256 * 1024

/** Longest body, in bytes or characters, that is tried: most of a frame, and never more than the buffer. */
const MAX_BODY_LENGTH = 60_000

/** A character of a text takes three bytes at most. */
const MAX_CHARACTER_BYTES = 3

export type OutBuffer = {
  /** Adds a whole message as a frame of its own; false where it does not fit: then nothing was added. */
  add(stream: number, kind: Kind, call: number, head: unknown, body: Buffer | string): boolean
  /** Writes what was added; false where the pipe takes no more for now. */
  flush(): boolean
  /** Bytes that were added and not yet written. */
  readonly used: number
}

/** Makes the buffer of a pipe. */
export function createOutBuffer(pipe: Duplex): OutBuffer {
  let bytes: Buffer = Buffer.allocUnsafeSlow(OUT_BYTES)
  let used = 0
  // Other streams pass on what they are given, and hold it for as long as they like.
  const isSocket = 'connecting' in pipe

  function flush(): boolean {
    if (used === 0) return true
    const goesOn = pipe.write(bytes.subarray(0, used))
    used = 0
    // What a socket has handed to the system at once is copied; what it keeps for later is this very buffer.
    const isCopied = isSocket && pipe.writableLength === 0
    if (!isCopied) bytes = Buffer.allocUnsafeSlow(OUT_BYTES)
    return goesOn
  }

  return {
    add(stream, kind, call, head, body) {
      if (body.length > MAX_BODY_LENGTH) return false
      const json = JSON.stringify(head)
      const bodyBytes = typeof body === 'string' ? body.length * MAX_CHARACTER_BYTES : body.length
      const most = FRAME_HEADER + MESSAGE_HEADER + json.length * MAX_CHARACTER_BYTES + bodyBytes
      if (used + most > OUT_BYTES) return false
      const headStart = used + FRAME_HEADER + MESSAGE_HEADER
      const headLength = bytes.write(json, headStart)
      const bodyStart = headStart + headLength
      const bodyLength =
        typeof body === 'string' ? bytes.write(body, bodyStart) : body.copy(bytes, bodyStart)
      const payload = MESSAGE_HEADER + headLength + bodyLength
      if (payload > MAX_FRAME_PAYLOAD) return false
      writeHeaders(bytes, used, { payload, stream, kind, call, headLength, bodyLength })
      used += FRAME_HEADER + payload
      return true
    },
    flush,
    get used() {
      return used
    },
  }
}

type Lengths = { payload: number; headLength: number; bodyLength: number }

function writeHeaders(
  bytes: Buffer,
  at: number,
  to: Lengths & { stream: number; kind: Kind; call: number },
): void {
  bytes.writeUInt32LE(to.payload, at)
  bytes[at + 4] = FIRST | LAST
  bytes.writeUInt32LE(to.stream, at + 5)
  const message = at + FRAME_HEADER
  bytes[message] = KINDS[to.kind]
  bytes.writeUInt32LE(to.call, message + 1)
  bytes.writeUInt32LE(to.headLength, message + 5)
  bytes.writeUInt32LE(to.bodyLength, message + 9)
}
