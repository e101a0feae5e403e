/**
 * Page tokens: the connector's cursor, encrypted. A caller can neither read nor forge one, and a token is
 * valid only for its own page sequence.
 *
 * It is bound to connector, capability, request and settings (as additional authenticated data) and to the
 * package digest and page size (inside). It is not bound to credentials, because a refresh during a listing
 * must not break it. AES-256-GCM; the key id comes first, so that keys can be rotated.
 */
import { createHash } from 'node:crypto'
import { RuntimeError } from '../contract/errors/errors.ts'
import { PAGE_TOKEN_LIFETIME_MS } from '../contract/limits/page-token-lifetime.ts'
import { canonicalJson } from '../contract/schema/canonical-json.ts'
import { createSealer, SEAL_BYTES, SealError } from '../secrets/seal.ts'
import type { Course } from './referee.ts'

/** Lifetime of a token in milliseconds. */
export const TOKEN_LIFETIME_MS: number = PAGE_TOKEN_LIFETIME_MS

/**
 * Maximum length of an accepted token in characters. The longest encrypted cursor fits with room to spare.
 */
const MAX_TOKEN_LENGTH = 65_536

const VERSION = 2

/** Contents of a token. */
export type TokenPage = {
  /** Cursor of the connector as JSON text. */
  cursorJson: string
  size: number | null
  digest: string
  /** State of the paging referee for the sequence. */
  course: Course
}

/** Scope of a token: everything here must be the same on every page. */
export type PageScope = {
  connector: string
  capability: string
  request: unknown
  settings: unknown
}

export type PageTokens = {
  seal(page: TokenPage, scope: PageScope): string
  /** Decrypts a token. @throws page_token_invalid with the reason */
  open(token: string, scope: PageScope): TokenPage
}

/**
 * Creates the functions. They encrypt with the first secret and decrypt with any of them.
 *
 * @param now milliseconds since 1970, the same on all hosts that decrypt the tokens
 */
export function createPageTokens(
  secrets: readonly string[],
  now: () => number = Date.now,
): PageTokens {
  const sealer = createSealer(secrets, 'page-token')
  return {
    seal({ cursorJson, size, digest, course }, scope) {
      const { pages, mark } = course
      const made = Math.floor(now() / 1000)
      const text = JSON.stringify([made, size, digest, cursorJson, pages, mark])
      const sealed = sealer.seal(text, scopeDigest(scope))
      return Buffer.concat([Buffer.from([VERSION]), sealed]).toString('base64url')
    },
    open(token, scope) {
      const text = unseal(decode(token), scopeDigest(scope))
      const [madeSeconds, size, digest, cursorJson, pages, mark] = JSON.parse(text)
      if (now() - madeSeconds * 1000 > TOKEN_LIFETIME_MS)
        throw refused('it has expired; start again without a token')
      return { size, digest, cursorJson, course: { pages, mark } }
    },
  }

  function unseal(sealed: Buffer, bound: Buffer): string {
    try {
      return sealer.open(sealed, bound)
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      throw refused(
        error.why === 'key'
          ? 'it was not made here, or its key has been retired'
          : 'it was edited, or belongs to another connector, capability, request or settings',
      )
    }
  }
}

function decode(token: string): Buffer {
  const bytes = Buffer.from(token.slice(0, MAX_TOKEN_LENGTH), 'base64url')
  const whole = token.length <= MAX_TOKEN_LENGTH && bytes.toString('base64url') === token
  if (!whole || bytes.length < 1 + SEAL_BYTES || bytes[0] !== VERSION)
    throw refused('it is not a page token of this service')
  return bytes.subarray(1)
}

const refused = (why: string) =>
  new RuntimeError('page_token_invalid', `the page token cannot be used: ${why}`)

function scopeDigest({ connector, capability, request, settings }: PageScope): Buffer {
  return createHash('sha256')
    .update(canonicalJson([connector, capability, request, settings]))
    .digest()
}
