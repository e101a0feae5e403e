/**
 * Batches messages of one frame each into one write: about twelve with 32 concurrent callers. Text is encoded
 * directly into the buffer.
 */
import type { Duplex } from 'node:stream'
import {
  FIRST,
  FRAME_HEADER,
  KINDS,
  LAST,
  MAX_FRAME_PAYLOAD,
  MESSAGE_HEADER,
  type MessageKind,
} from './frames.ts'

/** Size of the buffer, in bytes. */
const OUT_BYTES = 256 * 1024

/** Maximum length of an accepted body, in bytes or characters. It fits into a frame and into the buffer. */
const MAX_BODY_LENGTH = 60_000

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const MAX_CHARACTER_BYTES = 3

type OutBuffer = {
  /** Adds a message as one frame. @returns false if it does not fit; then nothing was added */
  add(
    stream: number,
    kind: MessageKind,
    call: number,
    head: unknown,
    body: Buffer | string,
  ): boolean
  /** Writes the added messages. @returns false if the caller must wait for `drain` */
  flush(): boolean
  /** Number of bytes added and not yet written. */
  readonly used: number
}

/** Creates the buffer of a pipe. */
export function createOutBuffer(pipe: Duplex): OutBuffer {
  let bytes: Buffer = Buffer.allocUnsafeSlow(OUT_BYTES)
  let used = 0
  // Streams other than sockets may keep the buffer for any length of time.
  const isSocket = 'connecting' in pipe

  function flush(): boolean {
    if (used === 0) return true
    const goesOn = pipe.write(bytes.subarray(0, used))
    used = 0
    // A socket copies the bytes that it writes at once, but keeps a reference to the bytes that it queues.
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
  to: Lengths & { stream: number; kind: MessageKind; call: number },
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
