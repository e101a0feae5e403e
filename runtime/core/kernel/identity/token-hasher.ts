/** How tokens are recognised without being kept: by a few of their characters and a keyed hash. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey, keyId } from '../../../secrets/key-derivation.ts'

/** Every token begins with this (service.md section 5.2). */
export const TOKEN_PREFIX = 'lsk_'
/** Characters of a token by which its row is found; the rest is only known as a hash. */
const LOOKUP_LENGTH = TOKEN_PREFIX.length + 8

/**
 * Hashes tokens, and the other random values that identify a caller: with the first secret for new
 * ones, with any of them to recognise one.
 */
export type TokenHasher = {
  /** Id of the secret that hashes new ones. */
  readonly keyId: string
  prefixOf(token: string): string
  hash(token: string): Buffer
  /** All that the hash of a text may be, to look a row up by it. */
  hashes(token: string): Buffer[]
  matches(token: string, hash: Buffer): boolean
}

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
