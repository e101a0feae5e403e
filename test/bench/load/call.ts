/**
 * The calls of a load generator, written to sockets directly.
 *
 * A generator shares the machine with the measured server. An HTTP client took a third of the processor time
 * of a small write (RESULTS.md). Therefore a request is built once, and an answer is counted, not parsed.
 */
import { connect, type Socket } from 'node:net'
import { createAnswerReader } from './answer.ts'
import type { Target } from './loads.ts'

/** Size of the read buffer in bytes. */
const READ_BYTES = 2 ** 16

/** The bytes of a call to `url`. */
export function requestOf(url: string, { path, body }: Target): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

export type Caller = {
  /**
   * Sends a call, reads its whole answer and returns whether it succeeded. One call at a time. A broken
   * connection is a failed call; the next call opens another connection.
   */
  call(request: Buffer): Promise<boolean>
  close(): void
}

export function createCaller(url: string): Caller {
  const { hostname, port } = new URL(url)
  let socket: Socket | null = null
  let settle: ((isGood: boolean) => void) | null = null

  const end = (isGood: boolean) => {
    settle?.(isGood)
    settle = null
  }

  function open(): Socket {
    const reader = createAnswerReader()
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    const onread = {
      buffer,
      callback(count: number) {
        const isGood = reader.read(buffer.subarray(0, count))
        if (isGood !== null) end(isGood)
        return true
      },
    }
    const opened = connect({ host: hostname, port: Number(port), noDelay: true, onread })
    // `close` reports its end as well.
    opened.on('error', () => {})
    opened.on('close', () => {
      if (socket !== opened) return
      socket = null
      end(false)
    })
    return opened
  }

  return {
    call: (request) =>
      new Promise((resolve) => {
        settle = resolve
        socket ??= open()
        socket.write(request)
      }),
    close() {
      socket?.destroy()
    },
  }
}
