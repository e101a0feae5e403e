/**
 * Page tokens: the connector's cursor, sealed. A caller can neither read nor make one, and one is good
 * only for the sequence that it came from.
 *
 * Bound to connector, capability, request and settings (as additional authenticated data) and to the
 * package digest and page size (inside); not to credentials: a refresh in the middle of a listing
 * must not break it. AES-256-GCM; the key's id leads, so that keys can be rotated.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { canonicalJson } from '../contract/canonical-json.ts'
import { RuntimeError } from '../contract/errors.ts'

/** How long a token is good, in milliseconds; each page renews it. */
export const TOKEN_LIFETIME_MS = 24 * 3_600_000

/** Longest token that is looked at, in characters: the longest cursor, sealed, fits with room to spare. */
const MAX_TOKEN_LENGTH = 65_536

const VERSION = 1
const ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What a token stands for. */
export type Page = {
  /** The author's cursor as JSON text. */
  cursorJson: string
  size: number | null
  digest: string
}

/** What a token is good for: everything here must be the same on every page. */
export type PageScope = {
  connector: string
  capability: string
  request: unknown
  settings: unknown
}

export type PageTokens = {
  seal(page: Page, scope: PageScope): string
  /** @throws page_token_invalid, saying which of the reasons. */
  open(token: string, scope: PageScope): Page
}

type Key = { id: Buffer; key: Buffer }

/** Seals with the first secret, opens with any of them. */
export function createPageTokens(
  secrets: readonly string[],
  now: () => number = Date.now,
): PageTokens {
  const keys = secrets.map(deriveKey)
  const current = keys[0]
  if (!current) throw new Error('a page token needs at least one secret')
  return {
    seal({ cursorJson, size, digest }, scope) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce)
      cipher.setAAD(scopeDigest(scope))
      const text = JSON.stringify([Math.floor(now() / 1000), size, digest, cursorJson])
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const parts = [Buffer.from([VERSION]), current.id, nonce, sealed, cipher.getAuthTag()]
      return Buffer.concat(parts).toString('base64url')
    },
    open(token, scope) {
      const bytes = decode(token)
      const key = keys.find(({ id }) => id.equals(bytes.subarray(1, 1 + ID_BYTES)))
      if (!key) throw refused('it was not made here, or its key has been retired')
      const start = 1 + ID_BYTES + NONCE_BYTES
      const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(1 + ID_BYTES, start))
      decipher.setAAD(scopeDigest(scope))
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
      let text: string
      try {
        const opened = decipher.update(bytes.subarray(start, bytes.length - TAG_BYTES))
        text = Buffer.concat([opened, decipher.final()]).toString('utf8')
      } catch {
        // The one thing that authenticated decryption can say.
        throw refused(
          'it was edited, or belongs to another connector, capability, request or settings',
        )
      }
      const [madeSeconds, size, digest, cursorJson] = JSON.parse(text)
      if (now() - madeSeconds * 1000 > TOKEN_LIFETIME_MS)
        throw refused('it has expired; start again without a token')
      return { size, digest, cursorJson }
    },
  }
}

function decode(token: string): Buffer {
  const bytes = Buffer.from(token.slice(0, MAX_TOKEN_LENGTH), 'base64url')
  const whole = token.length <= MAX_TOKEN_LENGTH && bytes.toString('base64url') === token
  if (!whole || bytes.length < 1 + ID_BYTES + NONCE_BYTES + TAG_BYTES || bytes[0] !== VERSION) {
    throw refused('it is not a page token of this service')
  }
  return bytes
}

const refused = (why: string) =>
  new RuntimeError('page_token_invalid', `the page token cannot be used: ${why}`)

function deriveKey(secret: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', secret, 'keyway', 'page-token', 32 + ID_BYTES))
  return { key: bytes.subarray(0, 32), id: bytes.subarray(32) }
}

function scopeDigest({ connector, capability, request, settings }: PageScope): Buffer {
  return createHash('sha256')
    .update(canonicalJson([connector, capability, request, settings]))
    .digest()
}
