/** Reads the body of a request as text, up to its limit. */
import type { Context } from 'hono'
import { limitValues } from '../../contract/endpoints/body-bytes.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { MAX_DEPTH } from '../../contract/schema/depth.ts'
import type { Env } from './env.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads and decodes a body.
 *
 * @throws RuntimeError `body_too_large`, `body_too_deep`, `body_not_json`, `caller_gone`
 */
export async function readBody(
  c: Context<Env>,
  { maxBytes, maxMarks }: { maxBytes: number; maxMarks: number } = INPUTS.call_body,
): Promise<string> {
  return textOf(await readBytes(c, maxBytes), maxMarks)
}

/**
 * Decodes a body that has been read.
 *
 * @throws RuntimeError `body_too_deep`, `body_not_json`
 */
export function textOf(bytes: Uint8Array, maxMarks: number = INPUTS.call_body.maxMarks): string {
  if (!limitValues(bytes, maxMarks))
    throw new RuntimeError('body_too_deep', `the body is nested deeper than ${MAX_DEPTH} levels`)
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new RuntimeError('body_not_json', 'the body is not UTF-8', {}, cause)
  }
}

/** Reads a body. @throws RuntimeError `body_too_large`, `caller_gone` */
export async function readBytes(c: Context<Env>, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(c.req.header('content-length') ?? Number.NaN)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const bytes = await (Number.isNaN(announced)
    ? readStream(c.req.raw.body, maxBytes)
    : c.req.arrayBuffer()
  ).catch(broken)
  return new Uint8Array(bytes)
}

/** Reads a body of unknown length, no further than the limit. */
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

/** Reports a body that could not be read to its end as the caller's failure: the connection was closed. */
function broken(cause: unknown): never {
  if (cause instanceof RuntimeError) throw cause
  throw new RuntimeError('caller_gone', 'the body ended early', {}, cause)
}

/**
 * Yields the chunks of a body as they arrive, up to a limit of bytes. Memory holds one chunk. A body that
 * ends before its announced length is refused, because the rest was lost in transit.
 *
 * @throws RuntimeError `body_too_large`, `caller_gone`
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
  if (announced > bytes) broken(new Error(`only ${bytes} of ${announced} bytes arrived`))
}

const tooLarge = (maxBytes: number) =>
  new RuntimeError('body_too_large', `the body is larger than ${maxBytes} bytes`)
