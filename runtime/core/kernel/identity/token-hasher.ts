/** Recognition of tokens that are not stored: by their first characters and a keyed hash. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey, keyId } from '../../../secrets/key-derivation.ts'

/** Prefix of every token (service.md section 5.2). */
export const TOKEN_PREFIX = 'lsk_'
/** Number of leading characters by which a token's row is found. The rest is stored only as a hash. */
const LOOKUP_LENGTH = TOKEN_PREFIX.length + 8

/**
 * Hashes tokens and the other random values that identify a caller. New hashes use the first secret. A hash
 * made with any of the secrets is recognised.
 */
export type TokenHasher = {
  /** Id of the secret for new hashes. */
  readonly keyId: string
  prefixOf(token: string): string
  hash(token: string): Buffer
  /** All hashes that a token may be stored under, to look up its row. */
  hashes(token: string): Buffer[]
  matches(token: string, hash: Buffer): boolean
}

/**
 * Creates a token hasher.
 *
 * @param secrets the host's secrets, newest first
 * @throws Error if there are none
 */
export function createTokenHasher(secrets: readonly string[]): TokenHasher {
  const keys = secrets.map((secret) => deriveKey(secret, 'api-token'))
  const [current] = keys
  const [newest] = secrets
  if (!current || newest === undefined) throw new Error('tokens need at least one secret')
  const digest = (key: Buffer, token: string) => createHmac('sha256', key).update(token).digest()
  return {
    keyId: keyId(newest),
    prefixOf: (token) => token.slice(0, LOOKUP_LENGTH),
    hash: (token) => digest(current, token),
    hashes: (token) => keys.map((key) => digest(key, token)),
    matches: (token, hash) => keys.some((key) => timingSafeEqual(digest(key, token), hash)),
  }
}
