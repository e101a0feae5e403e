/**
 * One connection of the front. Plain capability calls that arrive completely within a second are answered
 * here. At the first other or slow request, the connection and its unanswered bytes are handed to node:http
 * for good, whose time and size limits then apply.
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { createCaller, type HttpCaller } from '../edge/caller.ts'
import { CORRELATION } from '../edge/request-id.ts'
import { type CallHead, readCallHead } from './call-head.ts'
import type { CallAnswer, FrontCalls } from './plain-calls.ts'

export type ConnectionDeps = FrontCalls & {
  /** Hands a socket to node:http; unread bytes have been put back. */
  handOver(socket: Socket): void
  /** How long a connection may be idle, in milliseconds. */
  keepAliveMs: number
}

export type FrontConnection = {
  /** Checks the timeouts. */
  sweep(nowMs: number): void
  /** Closes the connection if no call is in flight. */
  endIdle(): void
  /** Closes the connection, aborting a call in flight. */
  end(): void
}

/** How long the rest of a request may take to arrive, in milliseconds. */
const PATIENCE_MS = 1000

/** Bytes of pipelined requests that are buffered before reading is paused. */
const MAX_AHEAD_BYTES = 64 * 1024

/** Longest head that is kept to be compared with the next one, in bytes; those of programs are shorter. */
const MAX_KEPT_BYTES = 1024

/** Response to an incomplete request, the same as node:http's. */
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'

/** Bodies from this size get their own write. Shorter ones are appended to the head, which is cheaper. */
const LONG_BODY_BYTES = 4096

/** Serves a connection. `onEnd` is called once, when it is closed or handed over. */
export function serveConnection(
  socket: Socket,
  deps: ConnectionDeps,
  onEnd: () => void,
): FrontConnection {
  /** The request being received: its head, and its bytes so far. */
  let receiving: { head: CallHead; whole: Buffer; filled: number } | null = null
  /** Aborts the call in flight. */
  let inFlight: HttpCaller | null = null
  /** Bytes received after the call in flight. */
  let ahead: Buffer | null = null
  /** The last head and its bytes: a program repeats them with every call on a kept connection. */
  let kept: { head: CallHead; bytes: Buffer } | null = null
  let hasAnswered = false
  let sinceMs = performance.now()
  /** Closed, or handed to node:http. */
  let isLeft = false

  socket.setNoDelay(true)
  socket.on('data', hear)
  socket.on('end', onHalfClosed)
  socket.on('error', onError)
  socket.on('close', onClose)

  function leave(): void {
    isLeft = true
    socket.off('data', hear)
    socket.off('end', onHalfClosed)
    socket.off('error', onError)
    socket.off('close', onClose)
    onEnd()
  }

  function onError(): void {
    // 'close' follows.
  }

  function onClose(): void {
    inFlight?.hangUp()
    if (receiving !== null) tellBroken(receiving.head)
    leave()
  }

  /** An incomplete call is not run, but it is recorded. */
  function tellBroken(head: CallHead): void {
    receiving = null
    deps.answer(head, null, createCaller(), () => {})
  }

  /** A half-closed connection aborts its call, as in node:http. */
  function onHalfClosed(): void {
    inFlight?.hangUp()
    if (receiving === null) return void socket.end()
    socket.end(BAD_REQUEST)
    tellBroken(receiving.head)
  }

  function handOver(bytes: Buffer | null): void {
    leave()
    socket.pause()
    if (bytes !== null) socket.unshift(bytes)
    deps.handOver(socket)
    // node:http has attached its listeners; it gets the bytes that were put back first.
    process.nextTick(() => socket.resume())
  }

  function hear(chunk: Buffer): void {
    if (inFlight !== null) {
      ahead = ahead === null ? chunk : Buffer.concat([ahead, chunk])
      if (ahead.length > MAX_AHEAD_BYTES) socket.pause()
      return
    }
    if (receiving === null) return begin(chunk)
    const { whole, filled } = receiving
    const taken = chunk.copy(whole, filled)
    receiving.filled += taken
    if (taken < chunk.length) ahead = chunk.subarray(taken)
    finish()
  }

  /** Handles the first bytes of a request; a head split over several chunks goes to node:http. */
  function begin(bytes: Buffer): void {
    const head = headOf(bytes)
    if (head === null) return handOver(bytes)
    sinceMs = performance.now()
    const length = head.headBytes + head.bodyBytes
    if (bytes.length >= length) {
      if (bytes.length > length) ahead = bytes.subarray(length)
      return call(head, bytes.subarray(head.headBytes, length))
    }
    // Allocated separately, so that it takes memory only as it is filled.
    const whole = Buffer.allocUnsafeSlow(length)
    receiving = { head, whole, filled: bytes.copy(whole) }
  }

  /**
   * Returns the head of a request. The same bytes are not parsed again, but the connector may have been
   * removed.
   */
  function headOf(bytes: Buffer): CallHead | null {
    if (kept !== null && beginsWith(bytes, kept.bytes))
      return deps.isConnector(kept.head.id) ? kept.head : null
    const head = readCallHead(bytes, deps)
    const isKept = head !== null && head.headBytes <= MAX_KEPT_BYTES && !isNamed(head)
    kept = isKept ? { head, bytes: Buffer.from(bytes.subarray(0, head.headBytes)) } : null
    return head
  }

  function finish(): void {
    if (receiving === null || receiving.filled < receiving.whole.length) return
    const { head, whole } = receiving
    receiving = null
    call(head, whole.subarray(head.headBytes))
  }

  function call(head: CallHead, body: Buffer): void {
    inFlight = createCaller()
    deps.answer(head, body, inFlight, (answer) => {
      if (!socket.writable) return
      // Backpressure: no further answers to a client that does not read.
      if (send(answer)) goOn()
      else socket.once('drain', goOn)
    })
  }

  /** Writes an answer. @returns false if the caller must wait for `drain` */
  function send({ status, headers, body }: CallAnswer): boolean {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`
    head += `content-length: ${body.length}\r\nDate: ${dateNow()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(deps.keepAliveMs / 1000)}\r\n\r\n`
    if (body.length < LONG_BODY_BYTES) return socket.write(head + body.toString('latin1'), 'latin1')
    socket.cork()
    socket.write(head, 'latin1')
    const goesOn = socket.write(body)
    socket.uncork()
    return goesOn
  }

  function goOn(): void {
    hasAnswered = true
    sinceMs = performance.now()
    if (ahead === null) inFlight = null
    // In its own tick: many pipelined requests that are refused synchronously would nest deeply.
    else process.nextTick(takeAhead)
  }

  function takeAhead(): void {
    inFlight = null
    if (ahead === null || socket.destroyed) return
    const bytes = ahead
    ahead = null
    if (socket.isPaused()) socket.resume()
    hear(bytes)
  }

  return {
    sweep(nowMs) {
      if (isLeft || inFlight !== null || socket.writableLength > 0) return
      const waitedMs = nowMs - sinceMs
      if (receiving !== null && waitedMs > PATIENCE_MS)
        handOver(receiving.whole.subarray(0, receiving.filled))
      else if (!hasAnswered && waitedMs > PATIENCE_MS) handOver(null)
      else if (waitedMs > deps.keepAliveMs + PATIENCE_MS) socket.destroy()
    },
    endIdle() {
      if (!isLeft && inFlight === null && receiving === null && socket.writableLength === 0)
        socket.destroy()
    },
    end: () => void socket.destroy(),
  }
}

const beginsWith = (bytes: Buffer, begin: Buffer): boolean =>
  bytes.length >= begin.length && bytes.compare(begin, 0, begin.length, 0, begin.length) === 0

/** Reports whether a request has an id of its own. The next request has a different one. */
const isNamed = ({ correlation }: CallHead): boolean =>
  CORRELATION.some((name) => correlation.has(name))

let date = ''
let dateUntilMs = 0

/** The current time as an HTTP date (RFC 9110 section 5.6.7), cached for one second. */
function dateNow(): string {
  const nowMs = Date.now()
  if (nowMs >= dateUntilMs || nowMs < dateUntilMs - 1000) {
    date = new Date(nowMs).toUTCString()
    dateUntilMs = nowMs - (nowMs % 1000) + 1000
  }
  return date
}
