/**
 * Documents that are the same for everybody: made once, compressed once, with a tag by which a caller that has one is
 * told so in a few bytes.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'hono'
import type { Env } from './env.ts'

type Coding = 'br' | 'gzip' | 'identity'
type Form = { bytes: Buffer<ArrayBuffer>; tag: string }

/**
 * A document in each of its codings; one that is compressed already has no other. Held for the life of the host: all that
 * there are have some 4 MB together.
 */
export type KeptDocument = {
  type: string
  forms: Partial<Record<Coding, Form>> & { identity: Form }
}

/** Best first. */
const CODINGS = ['br', 'gzip', 'identity'] as const

/** Of 1.4 MB it makes 50 kB in 30 ms of a thread that is not ours. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** Media types whose format compresses by itself. */
const COMPRESSED = ['image/webp']

/** Compresses on the threads of the pool. */
export async function keepDocument(
  content: string | Uint8Array,
  type: string,
): Promise<KeptDocument> {
  const plain = Buffer.from(content)
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  const form = (bytes: Buffer<ArrayBuffer>, coding: Coding): Form => ({
    bytes,
    tag: `"${digest}.${coding}"`,
  })
  const identity = form(plain, 'identity')
  if (COMPRESSED.includes(type)) return { type, forms: { identity } }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(plain, BROTLI),
    promisify(gzip)(plain),
  ])
  return {
    type,
    forms: { br: form(br, 'br'), gzip: form(gz, 'gzip'), identity },
  }
}

/** A document that is made when it is first asked for; a failure is not kept. */
export function madeOnce(
  type: string,
  make: () => string | Promise<string>,
): () => Promise<KeptDocument> {
  let made: Promise<KeptDocument> | null = null
  const begin = async () => keepDocument(await make(), type)
  return () => {
    made ??= begin().catch((error) => {
      made = null
      throw error
    })
    return made
  }
}

/** Answers in the best coding that the caller takes; 304 where it has that already. */
export function answerKept(
  c: Context<Env>,
  { type, forms }: KeptDocument,
  headers: Record<string, string> = {},
): Response {
  const best = bestCoding(c.req.header('accept-encoding'))
  const coding = forms[best] ? best : 'identity'
  const { bytes, tag } = forms[coding] ?? forms.identity
  const about = { ...headers, etag: tag, vary: 'accept-encoding', 'cache-control': 'no-cache' }
  if (hasTag(c.req.header('if-none-match'), tag)) return c.body(null, 304, about)
  return c.body(bytes, 200, {
    ...about,
    'content-type': type,
    'content-length': String(bytes.length),
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
  })
}

/** RFC 9110 section 12.5.3, as far as it matters here: a weight of 0 refuses, others are all the same. */
function bestCoding(accepted = ''): Coding {
  const taken = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .slice(0, 20)
      .map((part) => {
        const [name = '', ...params] = part.split(';').map((one) => one.trim())
        return [name, !params.some((one) => /^q=0(?:\.0*)?$/.test(one))] as const
      }),
  )
  const anything = taken.get('*') ?? false
  return CODINGS.find((coding) => taken.get(coding) ?? anything) ?? 'identity'
}

/** RFC 9110 section 13.1.2: compared weakly. */
export function hasTag(given: string | undefined, tag: string): boolean {
  if (given === undefined) return false
  const tags = given.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(tag)
}
