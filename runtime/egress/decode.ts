/** Content codings of replies, undone with a cap on what comes out. */
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { RuntimeError } from '../contract/errors.ts'
import type { EgressLimits } from './limits.ts'

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const gunzipBytes: Decoder = promisify(gunzip)
const inflateBytes: Decoder = promisify(inflate)
const inflateRawBytes: Decoder = promisify(inflateRaw)

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipBytes,
  'x-gzip': gunzipBytes,
  br: promisify(brotliDecompress),
  // Some servers send the bare stream under this name: a zlib header's low nibble is always 8.
  deflate: (body, options) =>
    (body[0]! & 0x0f) === 8 ? inflateBytes(body, options) : inflateRawBytes(body, options),
}

/** More than one coding is legal and rare; more than two is an attack on the decoder. */
const MAX_CODINGS = 2

/**
 * The reply's body without its content codings. Decoding stops as soon as the cap is passed, so that a
 * small body cannot become a large one (the cap: `maxReplyBytes`, and `maxRatio` times what was received).
 *
 * @param encoding The Content-Encoding header.
 * @param from Where the reply comes from, for messages.
 * @throws upstream_too_large, upstream_garbled
 */
export async function decodeBody(
  body: Buffer,
  encoding: string,
  from: string,
  limits: EgressLimits,
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
  const maxOutputLength = Math.min(limits.maxReplyBytes, byRatio)
  let decoded = body
  for (const coding of codings.toReversed()) {
    const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (decoder === undefined)
      throw new RuntimeError(
        'upstream_garbled',
        `${from} answered in the encoding "${coding.slice(0, 40)}", which was not asked for`,
      )
    try {
      decoded = await decoder(decoded, { maxOutputLength })
    } catch (error) {
      // zlib's own errors speak of buffers; the caller needs to know whose body it was.
      throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
        ? new RuntimeError(
            'upstream_too_large',
            `${from} answered with a body that decodes to more than ${maxOutputLength} bytes`,
          )
        : new RuntimeError(
            'upstream_garbled',
            `${from} answered with a body that is not valid ${coding}`,
          )
    }
  }
  return decoded
}
