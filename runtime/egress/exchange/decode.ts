/** Decodes the content codings of replies, with a limit on the decoded size. */
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { joinPieces } from '../../bounded/join.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { EgressLimits } from '../limits/limits.ts'

/** Size of a decoder's output chunks, in bytes. */
const chunkSize = 64 * 1024

const DECODERS: Readonly<Record<string, (body: Buffer) => Transform>> = {
  gzip: () => createGunzip({ chunkSize }),
  'x-gzip': () => createGunzip({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
  // Some servers send the raw stream under this name. The low nibble of a zlib header is always 8.
  deflate: (body) =>
    (body[0]! & 0x0f) === 8 ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize }),
}

/** More than one coding is legal and rare. More than two is an attack on the decoder. */
const MAX_CODINGS = 2

type DecodeOptions = {
  /** Origin of the reply, for messages. */
  from: string
  limits: EgressLimits
  /** Called with the size of every decoded piece. May throw to stop. */
  onBytes(bytes: number): void
}

/**
 * Returns the reply's body without its content codings. Decoding stops as soon as the limit is passed, so
 * that a small body cannot become a large one (the limit: `maxReplyBytes`, and `maxRatio` times the received
 * size).
 *
 * @param encoding The Content-Encoding header.
 * @throws upstream_too_large, upstream_garbled, and the errors of `onBytes`
 */
export async function decodeBody(
  body: Buffer,
  encoding: string,
  { from, limits, onBytes }: DecodeOptions,
): Promise<Buffer> {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (body.length === 0 || codings.length === 0) return body
  if (codings.length > MAX_CODINGS)
    throw new RuntimeError(
      'upstream_garbled',
      `${from} answered with more than ${MAX_CODINGS} encodings`,
    )

  const byRatio = Math.max(limits.ratioFreeBytes, body.length * limits.maxRatio)
  const maxBytes = Math.min(limits.maxReplyBytes, byRatio)
  let decoded = body
  for (const coding of codings.toReversed()) {
    const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (decoder === undefined)
      throw new RuntimeError(
        'upstream_garbled',
        `${from} answered in the encoding "${coding.slice(0, 40)}", which was not asked for`,
      )
    try {
      decoded = await run(decoder(decoded), decoded, { from, maxBytes, onBytes })
    } catch (error) {
      if (error instanceof RuntimeError) throw error
      // zlib's own errors describe buffers. The caller needs to know whose body it was.
      throw new RuntimeError(
        'upstream_garbled',
        `${from} answered with a body that is not valid ${coding}`,
      )
    }
  }
  return decoded
}

/** Returns the whole output of a decoder. Leaving the loop in any way destroys the decoder. */
async function run(
  decoder: Transform,
  body: Buffer,
  { from, maxBytes, onBytes }: Pick<DecodeOptions, 'from' | 'onBytes'> & { maxBytes: number },
): Promise<Buffer> {
  const pieces: Buffer[] = []
  let total = 0
  decoder.end(body)
  for await (const piece of decoder) {
    total += piece.length
    if (total > maxBytes)
      throw new RuntimeError(
        'upstream_too_large',
        `${from} answered with a body that decodes to more than ${maxBytes} bytes`,
      )
    onBytes(piece.length)
    pieces.push(piece)
  }
  return joinPieces(pieces, total)
}
