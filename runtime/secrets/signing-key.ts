/**
 * The key that a deployment signs evidence with (Ed25519). It is made from KEYWAY_SECRET: all hosts of a deployment have
 * the same one, and nothing else has to be kept. What an earlier secret signed is still verified by the key of that one.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { deriveKey } from './key-derivation.ts'

/** What stands before the 32 bytes of a private key in PKCS #8, and of a public one in SubjectPublicKeyInfo (RFC 8410). */
const PRIVATE_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** Hexadecimal digits in small letters, 64 each. */
type SigningKey = { publicKey: string; fingerprint: string }

export type Signer = {
  /** The one that signs. */
  readonly key: SigningKey
  /** Those of all secrets that the host has, newest first. */
  readonly keys: readonly SigningKey[]
  /** The 64 bytes of a signature. */
  sign(bytes: Buffer): Buffer
}

/** Makes a signer; the first secret signs. */
export function createSigner(secrets: readonly string[]): Signer {
  const pairs = secrets.map((secret) => {
    const seed = deriveKey(secret, 'evidence-signing')
    const der = Buffer.concat([PRIVATE_HEAD, seed])
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return { privateKey, key: signingKey(createPublicKey(privateKey)) }
  })
  const [current] = pairs
  if (!current) throw new Error('signing needs at least one secret')
  return {
    key: current.key,
    keys: pairs.map(({ key }) => key),
    sign: (bytes) => sign(null, bytes, current.privateKey),
  }
}

function signingKey(publicKey: KeyObject): SigningKey {
  const digits = publicKeyDigits(publicKey)
  return { publicKey: digits, fingerprint: fingerprintOf(digits) }
}

/** The 32 bytes of a public key, as digits. */
export const publicKeyDigits = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).subarray(PUBLIC_HEAD.length).toString('hex')

/** SHA-256 of the key as `openssl pkey -pubin -outform DER` writes it. */
export const fingerprintOf = (publicKey: string): string =>
  createHash('sha256').update(derOf(publicKey)).digest('hex')

/** The key of 64 digits. */
export const publicKeyOf = (publicKey: string): KeyObject =>
  createPublicKey({ key: derOf(publicKey), format: 'der', type: 'spki' })

const derOf = (publicKey: string): Buffer =>
  Buffer.concat([PUBLIC_HEAD, Buffer.from(publicKey, 'hex')])
