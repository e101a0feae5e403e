/**
 * Derives keys and ids from secrets, and generates random secrets. All of it is here, so that ids and keys
 * agree.
 */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** Length of a key's id in bytes. */
export const KEY_ID_BYTES = 8

/** Derives a key for one purpose. It reveals neither the secret nor the key of another purpose. */
export const deriveKey = (secret: string, purpose: string, bytes = 32): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'keyway', purpose, bytes))

/**
 * Returns the id of a secret, 16 hex digits that reveal nothing else of it. It is the same in backups, in
 * sealed values and among the hosts of a database.
 */
export const keyId = (secret: string): string =>
  deriveKey(secret, 'key-id', KEY_ID_BYTES).toString('hex')

/**
 * Returns the id by which hosts of a database identified a secret before they used `keyId`, 32 hex digits.
 */
export const hostsKeyIdBefore = (secret: string): string =>
  deriveKey(secret, 'deployment-secret', 16).toString('hex')

/** Length in bytes of a key's id in values that were sealed before `keyId` was used there. */
export const KEY_ID_BYTES_BEFORE = 4

/**
 * Returns the id of a key in values that were sealed before `keyId` was used there: the bytes that follow the
 * key.
 */
export const sealKeyIdBefore = (secret: string, purpose: string): Buffer =>
  deriveKey(secret, purpose, 32 + KEY_ID_BYTES_BEFORE).subarray(32)

/** Returns the key under which backups are sealed. */
export const backupKey = (secret: string): Buffer => deriveKey(secret, 'backup-seal')

/** Returns a random text of 256 bits, after a prefix that tells its purpose. */
export const randomSecret = (prefix = ''): string =>
  `${prefix}${randomBytes(32).toString('base64url')}`

/** Returns the key with which a host proves that it knows a token. The token cannot be derived from it. */
export const hostProofKey = (token: string): Buffer => deriveKey(token, 'host-proof')

/**
 * Returns a host's proof that it knows a token, for a caller who has not sent the token yet. It is bound to
 * the caller's nonce and to the address that they reached, so that it is worthless elsewhere.
 */
export const hostProof = (key: Buffer, { nonce, address }: HostChallenge): string =>
  createHmac('sha256', key).update(`host to command\n${address}\n${nonce}`).digest('base64url')

/** Challenge of a caller. `address` is `host:port` as it was reached, and `nonce` is a random text. */
export type HostChallenge = { nonce: string; address: string }
