/** What is made from secrets, and how random ones are made: the one place, so that ids and keys agree. */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** Bytes of a key's id. */
export const KEY_ID_BYTES = 8

/** A key for one purpose. Who has it learns neither the secret nor the key of another purpose. */
export const deriveKey = (secret: string, purpose: string, bytes = 32): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'keyway', purpose, bytes))

/**
 * Says which secret it is and nothing else of it, 16 hex digits: the same in backups, in what is sealed
 * and in what hosts of one database agree on.
 */
export const keyId = (secret: string): string =>
  deriveKey(secret, 'key-id', KEY_ID_BYTES).toString('hex')

/** How hosts of one database named a secret among themselves before they used `keyId`; 32 hex digits. */
export const hostsKeyIdBefore = (secret: string): string =>
  deriveKey(secret, 'deployment-secret', 16).toString('hex')

/** Bytes of a key's id in what was sealed before `keyId` was used there. */
export const KEY_ID_BYTES_BEFORE = 4

/** The id of a key in what was sealed before `keyId` was used there: the bytes behind the key. */
export const sealKeyIdBefore = (secret: string, purpose: string): Buffer =>
  deriveKey(secret, purpose, 32 + KEY_ID_BYTES_BEFORE).subarray(32)

/** The key under which backups are sealed. */
export const backupKey = (secret: string): Buffer => deriveKey(secret, 'backup-seal')

/** A text that nobody guesses (256 bits), behind a prefix that says what it is. */
export const randomSecret = (prefix = ''): string =>
  `${prefix}${randomBytes(32).toString('base64url')}`

/** By which a host proves that it knows a token; the token cannot be found from it. */
export const hostProofKey = (token: string): Buffer => deriveKey(token, 'host-proof')

/**
 * What a host answers to who wants to know that it knows a token, before they send it: bound to what they
 * asked and to the address that they reached, so that it is worth nothing elsewhere.
 */
export const hostProof = (key: Buffer, { nonce, address }: HostChallenge): string =>
  createHmac('sha256', key).update(`host to command\n${address}\n${nonce}`).digest('base64url')

/** `address` is `host:port` as it was reached; `nonce` a random text. */
export type HostChallenge = { nonce: string; address: string }
