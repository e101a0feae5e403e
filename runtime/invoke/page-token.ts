/**
 * Page tokens: the connector's cursor, sealed. A caller can neither read nor make one, and one is good
 * only for the sequence that it came from.
 *
 * Bound to connector, capability, request and settings (as additional authenticated data) and to the
 * package digest and page size (inside); not to credentials: a refresh in the middle of a listing
 * must not break it. AES-256-GCM; the key's id leads, so that keys can be rotated.
 */
import { createHash } from 'node:crypto'
import { RuntimeError } from '../contract/errors/errors.ts'
import { PAGE_TOKEN_LIFETIME_MS } from '../contract/limits/page-token-lifetime.ts'
import { canonicalJson } from '../contract/schema/canonical-json.ts'
import { createSealer, SEAL_BYTES, SealError } from '../secrets/seal.ts'
import type { Course } from './referee.ts'

/** How long a token is good, in milliseconds. */
export const TOKEN_LIFETIME_MS: number = PAGE_TOKEN_LIFETIME_MS

/** Longest token that is looked at, in characters: the longest cursor, sealed, fits with room to spare. */
const MAX_TOKEN_LENGTH = 65_536

const VERSION = 2

/** What a token stands for. */
export type TokenPage = {
  /** The author's cursor as JSON text. */
  cursorJson: string
  size: number | null
  digest: string
  /** What the referee knows of the sequence. */
  course: Course
}

/** What a token is good for: everything here must be the same on every page. */
export type PageScope = {
  connector: string
  capability: string
  request: unknown
  settings: unknown
}

export type PageTokens = {
  seal(page: TokenPage, scope: PageScope): string
  /** @throws page_token_invalid, saying which of the reasons. */
  open(token: string, scope: PageScope): TokenPage
}

/**
 * Seals with the first secret, opens with any of them.
 *
 * @param now The same on every host that opens them, in milliseconds since 1970.
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
