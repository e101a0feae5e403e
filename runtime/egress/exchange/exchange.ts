/** One exchange with an upstream: one request out, one reply in. Knows nothing of rules or redirects. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { joinPieces } from '../../bounded/join.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { targetOf } from '../limits/grants.ts'
import type { EgressLimits } from '../limits/limits.ts'
import { decodeBody } from './decode.ts'
import { requestWith } from './dispatch.ts'
import { toUpstreamError } from './failures.ts'
import { type HeaderList, headerValue, prepareHeaders } from './headers.ts'

/** Request as a connector made it. */
export type OutgoingRequest = {
  url: string
  method: string
  headers: HeaderList
  body: Uint8Array | null
}

/** Head of a reply, with its body not yet read. Either `read` or `discard` must be called. */
export type ReplyHead = {
  status: number
  headers: HeaderList
  /**
   * Returns the decoded body.
   *
   * @throws upstream_too_large, upstream_garbled, upstream_closed, upstream_timeout
   */
  read(): Promise<Buffer>
  /** Discards the body. A short one is read, so that the connection can be used again. */
  discard(): void
}

export type ExchangeOptions = {
  dispatcher: Dispatcher
  proxied: boolean
  limits: EgressLimits
  userAgent: string
  signal: AbortSignal
  /** Called before the request is handed to the connection, with the size of its body. */
  onSend(bytes: number): void
  /** Called with the size of every received piece. May throw to stop the reply. */
  onBytes(bytes: number): void
  /** Called with the size of every decoded piece. May throw as well. */
  onDecoded(bytes: number): void
  /** Counts bytes that were read. @returns how long to wait before reading on, in milliseconds */
  read(bytes: number): number
  /** Runs decodings one after the other: 64 small bodies that decode to 16 MiB each are 1 GiB. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Sends one request and waits for the head of the reply.
 *
 * @param url The judged URL; `request.url` is not read again.
 * @throws egress_header, egress_private, upstream_*, or the reason of the signal
 */
export async function exchange(
  url: URL,
  request: OutgoingRequest,
  options: ExchangeOptions,
): Promise<ReplyHead> {
  const { dispatcher, limits, signal } = options
  const from = targetOf(url)
  const fail = (error: unknown): unknown =>
    toUpstreamError(error, { from, proxied: options.proxied, signal })

  const headers = prepareHeaders(request.headers, {
    userAgent: options.userAgent,
    maxHeaderBytes: limits.maxHeaderBytes,
  })
  if (signal.aborted) throw fail(signal.reason)
  options.onSend(request.body?.byteLength ?? 0)

  let reply: Dispatcher.ResponseData
  try {
    reply = await requestWith(dispatcher, signal, {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      // The cast: the type lists the usual methods, but undici sends any token.
      method: request.method as Dispatcher.HttpMethod,
      headers,
      body: request.body,
      signal,
      responseHeaders: 'raw',
    })
  } catch (error) {
    // undici's errors describe sockets and parser states. They are converted only here.
    throw fail(error)
  }
  const { body, statusCode } = reply
  // An aborted reply without a reader must not become an uncaught error.
  body.on('error', () => {})
  // The cast: with `responseHeaders: 'raw'` they are a list, contrary to undici's type.
  const received = pairs(reply.headers as unknown as readonly string[])
  return {
    status: statusCode,
    headers: received,
    discard: () => void body.dump({ limit: 16_384 }).catch(() => {}),
    async read() {
      const isHead = request.method === 'HEAD'
      const length = isHead ? 0 : Number(headerValue(received, 'content-length') ?? 0)
      const raw = await collect(body, length, from, options).catch((error: unknown) => {
        body.destroy()
        throw fail(error)
      })
      const encoding = headerValue(received, 'content-encoding')
      if (raw.length === 0 || encoding === null) return raw
      return options.inTurn(async () => {
        if (signal.aborted) throw fail(signal.reason)
        return decodeBody(raw, encoding, { from, limits, onBytes: options.onDecoded })
      })
    },
  }
}

/** Maximum number of pieces of a reply that are kept before they are joined. */
const MAX_PIECES = 1024

/** Reads pieces until the end, or until they exceed the limit. */
async function collect(
  body: AsyncIterable<Buffer>,
  announced: number,
  from: string,
  { limits, onBytes, read, signal }: ExchangeOptions,
): Promise<Buffer> {
  const refuse = (): never => {
    throw new RuntimeError(
      'upstream_too_large',
      `${from} answered with more than ${limits.maxReplyBytes} bytes`,
    )
  }
  if (announced > limits.maxReplyBytes) refuse()
  const blocks: Buffer[] = []
  let pieces: Buffer[] = []
  let total = 0
  let joined = 0
  for await (const piece of body) {
    total += piece.length
    if (total > limits.maxReplyBytes) refuse()
    onBytes(piece.length)
    pieces.push(piece)
    // For chunks of one byte, the objects would take a hundred times the memory of the reply.
    if (pieces.length === MAX_PIECES) {
      blocks.push(await joinPieces(pieces, total - joined))
      joined = total
      pieces = []
    }
    const waitMs = read(piece.length)
    // Nothing is read during the pause, so the upstream has to wait as well.
    if (waitMs > 0) await pause(waitMs, undefined, { signal })
  }
  return joinPieces([...blocks, ...pieces], total)
}

/** undici's raw headers are one flat array: name, value, name, value. */
function pairs(raw: readonly string[]): HeaderList {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[2 * index]!,
    raw[2 * index + 1]!,
  ])
}
