/**
 * One connection at the front. A request that is the usual capability call, whole and within its first second, is
 * answered here. At the first other one, or the first that keeps us waiting, the connection is node:http's with every
 * byte that has not been answered, and stays there: its limits of time and size hold for all that is not usual.
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Caller, createCaller } from '../caller.ts'
import { type CallHead, readCallHead } from './call-head.ts'
import type { CallAnswer, FrontCalls } from './usual-calls.ts'

export type ConnectionDeps = FrontCalls & {
  /** Gives a socket, its unread bytes put back, to node:http. */
  handOver(socket: Socket): void
  /** How long a connection may be idle, in milliseconds. */
  keepAliveMs: number
}

export type Connection = {
  /** Looks how long it has been waiting. */
  sweep(nowMs: number): void
  /** Ends it where no call is under way. */
  endIdle(): void
  /** Ends it, whatever is under way. */
  end(): void
}

/** How long the rest of a request may take to come, in milliseconds. */
const PATIENCE_MS = 1000

/** How many bytes that came behind a call under way are read on, before its sender has to wait. */
const MAX_AHEAD_BYTES = 64 * 1024

/** What the answer to half a request is, as node:http has it. */
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'

/** Shortest body that is a write of its own: copying a short one behind its head is cheaper. */
const LONG_BODY_BYTES = 4096

/** Serves a connection; `onEnd` is called once, when it is over or handed over. */
export function serveConnection(
  socket: Socket,
  deps: ConnectionDeps,
  onEnd: () => void,
): Connection {
  /** The head of the request that is being received, and all its bytes so far. */
  let receiving: { head: CallHead; whole: Buffer; filled: number } | null = null
  /** Ends the call that is under way. */
  let under: Caller | null = null
  /** What came behind the call that is under way. */
  let ahead: Buffer | null = null
  let hasAnswered = false
  let sinceMs = performance.now()
  /** It is over here: closed, or node:http's. */
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
    under?.hangUp()
    if (receiving !== null) tellBroken(receiving.head)
    leave()
  }

  /** Half a call is no call, and is told all the same. */
  function tellBroken(head: CallHead): void {
    receiving = null
    deps.answer(head, null, createCaller(), () => {})
  }

  /** Who has said all ends the call, as with node:http. */
  function onHalfClosed(): void {
    under?.hangUp()
    if (receiving === null) return void socket.end()
    socket.end(BAD_REQUEST)
    tellBroken(receiving.head)
  }

  function handOver(bytes: Buffer | null): void {
    leave()
    socket.pause()
    if (bytes !== null) socket.unshift(bytes)
    deps.handOver(socket)
    // It has its listeners from here on, and gets what was put back before what comes.
    process.nextTick(() => socket.resume())
  }

  function hear(chunk: Buffer): void {
    if (under !== null) {
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

  /** The first bytes of a request; a head that comes in pieces is not usual. */
  function begin(bytes: Buffer): void {
    const head = readCallHead(bytes, deps)
    if (head === null) return handOver(bytes)
    sinceMs = performance.now()
    const length = head.headBytes + head.bodyBytes
    if (bytes.length >= length) {
      if (bytes.length > length) ahead = bytes.subarray(length)
      return call(head, bytes.subarray(head.headBytes, length))
    }
    // As a mapping of its own, which costs memory only as it is filled.
    const whole = Buffer.allocUnsafeSlow(length)
    receiving = { head, whole, filled: bytes.copy(whole) }
  }

  function finish(): void {
    if (receiving === null || receiving.filled < receiving.whole.length) return
    const { head, whole } = receiving
    receiving = null
    call(head, whole.subarray(head.headBytes))
  }

  function call(head: CallHead, body: Buffer): void {
    under = createCaller()
    deps.answer(head, body, under, (answer) => {
      if (!socket.writable) return
      // Who does not take answers gets no more of them.
      if (send(answer)) goOn()
      else socket.once('drain', goOn)
    })
  }

  /** What is written, and whether more may follow at once. */
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
    if (ahead === null) under = null
    // In a turn of its own: many small requests that are refused at once would be a deep stack.
    else process.nextTick(takeAhead)
  }

  function takeAhead(): void {
    under = null
    if (ahead === null || socket.destroyed) return
    const bytes = ahead
    ahead = null
    if (socket.isPaused()) socket.resume()
    hear(bytes)
  }

  return {
    sweep(nowMs) {
      if (isLeft || under !== null || socket.writableLength > 0) return
      const waitedMs = nowMs - sinceMs
      if (receiving !== null && waitedMs > PATIENCE_MS)
        handOver(receiving.whole.subarray(0, receiving.filled))
      else if (!hasAnswered && waitedMs > PATIENCE_MS) handOver(null)
      else if (waitedMs > deps.keepAliveMs + PATIENCE_MS) socket.destroy()
    },
    endIdle() {
      if (!isLeft && under === null && receiving === null && socket.writableLength === 0)
        socket.destroy()
    },
    end: () => void socket.destroy(),
  }
}

let date = ''
let dateUntilMs = 0

/** Now, as RFC 9110 section 5.6.7 writes it; made once a second. */
function dateNow(): string {
  const nowMs = Date.now()
  if (nowMs >= dateUntilMs || nowMs < dateUntilMs - 1000) {
    date = new Date(nowMs).toUTCString()
    dateUntilMs = nowMs - (nowMs % 1000) + 1000
  }
  return date
}
