/** Reads a request's body as text, up to its limit. */
import { isUtf8 } from 'node:buffer'
import type { Context } from 'hono'
import { MAX_DEPTH } from '../contract/depth.ts'
import { RuntimeError } from '../contract/errors.ts'
import { levelsIn, MAX_BODY_MARKS, MAX_UPLOAD_MARKS, marksIn } from '../contract/reply-limits.ts'
import type { Env } from './problem.ts'

/** Largest request body, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @throws body_too_large, body_not_json, caller_gone */
export async function readBody(
  c: Context<Env>,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<string> {
  return textOf(await readBytes(c, maxBytes), maxBytes)
}

/**
 * The text of a body that was read.
 *
 * @throws body_too_large, body_too_deep, body_not_json
 */
export function textOf(bytes: Uint8Array, maxBytes: number = MAX_BODY_BYTES): string {
  if (!limitValues(bytes, maxBytes))
    throw new RuntimeError('body_too_deep', `the body is nested deeper than ${MAX_DEPTH} levels`)
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new RuntimeError('body_not_json', 'the body is not UTF-8', {}, cause)
  }
}

/**
 * Refuses JSON of more values than can be parsed and judged while others wait; false where it is nested too
 * deeply to have so many.
 *
 * @throws body_too_large
 */
export function limitValues(json: Uint8Array, maxBytes: number): boolean {
  const most = maxBytes > MAX_BODY_BYTES ? MAX_UPLOAD_MARKS : MAX_BODY_MARKS
  if (marksIn(json, most) <= most) return true
  // That it is nested too deeply says more than that it is large.
  if (levelsIn(json, MAX_DEPTH) > MAX_DEPTH) return false
  const message = `the body holds more than ${most / 2} values; send it in several parts`
  throw new RuntimeError('body_too_large', message)
}

/** How many characters of a body are read before the first byte that is not UTF-8; null when all are. */
export function notUtf8At(bytes: Uint8Array): number | null {
  if (isUtf8(bytes)) return null
  // A prefix of a valid text may end within a character: `stream` takes that for unfinished, not for wrong.
  const read = (end: number): number | null => {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, end), {
        stream: true,
      }).length
    } catch {
      // Not UTF-8 up to there: what is asked.
      return null
    }
  }
  let [good, bad] = [0, bytes.byteLength + 1]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (read(middle) === null) bad = middle
    else good = middle
  }
  return read(good)
}

/** @throws body_too_large, caller_gone */
export async function readBytes(
  c: Context<Env>,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<Uint8Array> {
  const announced = Number(c.req.header('content-length') ?? Number.NaN)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const bytes = await (Number.isNaN(announced)
    ? readStream(c.req.raw.body, maxBytes)
    : c.req.arrayBuffer()
  ).catch(broken)
  return new Uint8Array(bytes)
}

/** A body of unknown length: read no further than the limit. */
async function readStream(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  if (body !== null) {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  }
  return Buffer.concat(chunks, bytes)
}

/** A body that cannot be read to its end is the caller's doing: the connection is gone. */
function broken(cause: unknown): never {
  if (cause instanceof RuntimeError) throw cause
  throw new RuntimeError('caller_gone', 'the body ended in the middle', {}, cause)
}

/**
 * Passes a body on as it comes, up to a limit of bytes; memory holds a chunk. A body that ends before
 * its announced length is no body: the rest was lost on the way.
 *
 * @throws body_too_large, caller_gone
 */
export async function* streamBody(
  c: Context<Env>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  const announced = Number(c.req.header('content-length') ?? Number.NaN)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  let bytes = 0
  try {
    for await (const chunk of c.req.raw.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (cause) {
    broken(cause)
  }
  if (announced > bytes) broken(new Error(`${bytes} of ${announced} bytes came`))
}

const tooLarge = (maxBytes: number) =>
  new RuntimeError('body_too_large', `the body is larger than ${maxBytes} bytes`)
