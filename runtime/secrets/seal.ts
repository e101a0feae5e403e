/**
 * Authenticated encryption under the operator's secrets (AES-256-GCM). Each sealer has a purpose, so that a
 * value sealed for one purpose cannot be opened for another. A sealed value starts with the key's id, so that
 * keys can be rotated: the first secret seals, and any of them opens.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import {
  deriveKey,
  KEY_ID_BYTES,
  KEY_ID_BYTES_BEFORE,
  keyId,
  sealKeyIdBefore,
} from './key-derivation.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Number of bytes that sealing adds. */
export const SEAL_BYTES = KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES

export type Sealer = {
  /** Id of the sealing key, in hexadecimal digits. */
  readonly keyId: string
  /** Ids of all keys that can open, newest first. */
  readonly keyIds: readonly string[]
  /** Seals a text. `bound` is not stored: opening needs the same bytes again. */
  seal(text: string, bound: Buffer): Buffer
  /** @throws SealError */
  open(sealed: Buffer, bound: Buffer): string
}

/** Error for a sealed value that cannot be opened. */
export class SealError extends Error {
  /** `key`: it was sealed with none of the secrets. `altered`: it was changed, or bound to something else. */
  readonly why: 'key' | 'altered'
  /** Id of the key that it needs. */
  readonly keyId: string

  constructor(why: 'key' | 'altered', keyId: string) {
    super(why === 'key' ? `no secret has the key ${keyId}` : 'it was altered')
    this.name = 'SealError'
    this.why = why
    this.keyId = keyId
  }
}

/** Returns the id of the key that sealed a value. */
export const sealedWith = (sealed: Buffer): string =>
  sealed.subarray(0, KEY_ID_BYTES).toString('hex')

/** Creates a sealer. `purpose` is part of its keys. */
export function createSealer(secrets: readonly string[], purpose: string): Sealer {
  const keys = secrets.map((secret) => ({
    key: deriveKey(secret, purpose),
    id: Buffer.from(keyId(secret), 'hex'),
    idBefore: sealKeyIdBefore(secret, purpose),
  }))
  const current = keys[0]
  if (!current) throw new Error('sealing needs at least one secret')
  return {
    keyId: current.id.toString('hex'),
    keyIds: keys.map(({ id }) => id.toString('hex')),
    seal(text, bound) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce)
      cipher.setAAD(bound)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([current.id, nonce, sealed, cipher.getAuthTag()])
    },
    open(sealed, bound) {
      const begins = (id: Buffer) => sealed.subarray(0, id.length).equals(id)
      // Look for the whole id first: the four bytes of the old one may match by chance.
      const now = keys.find(({ id }) => begins(id))
      const key = now ?? keys.find(({ idBefore }) => begins(idBefore))
      const idBytes = now || !key ? KEY_ID_BYTES : KEY_ID_BYTES_BEFORE
      const start = idBytes + NONCE_BYTES
      const end = sealed.length - TAG_BYTES
      if (end < start) throw new SealError('altered', sealedWith(sealed))
      if (!key) throw new SealError('key', sealedWith(sealed))
      const decipher = createDecipheriv('aes-256-gcm', key.key, sealed.subarray(idBytes, start))
      decipher.setAAD(bound)
      decipher.setAuthTag(sealed.subarray(end))
      try {
        const opened = decipher.update(sealed.subarray(start, end))
        return Buffer.concat([opened, decipher.final()]).toString('utf8')
      } catch {
        // Authenticated decryption fails for no other reason.
        throw new SealError('altered', key.id.toString('hex'))
      }
    },
  }
}
