/**
 * The key with which a deployment signs evidence (Ed25519). It is derived from KEYWAY_SECRET: all hosts of a
 * deployment have the same key, and nothing else must be stored. Evidence signed under an earlier secret is
 * still verified with the key of that secret.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { deriveKey } from './key-derivation.ts'

/**
 * DER prefix of the 32 bytes of a private key in PKCS #8, and of a public key in SubjectPublicKeyInfo (RFC
 * 8410).
 */
const PRIVATE_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** Lower-case hexadecimal digits, 64 each. */
type SigningKey = { publicKey: string; fingerprint: string }

export type Signer = {
  /** Key that signs. */
  readonly key: SigningKey
  /** Keys of all secrets of the host, newest first. */
  readonly keys: readonly SigningKey[]
  /** Returns the 64 bytes of a signature. */
  sign(bytes: Buffer): Buffer
}

/** Creates a signer. The first secret signs. */
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

/** Returns the 32 bytes of a public key as hexadecimal digits. */
export const publicKeyDigits = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).subarray(PUBLIC_HEAD.length).toString('hex')

/** Returns the SHA-256 of a key in the form that `openssl pkey -pubin -outform DER` writes. */
export const fingerprintOf = (publicKey: string): string =>
  createHash('sha256').update(derOf(publicKey)).digest('hex')

/** Returns the key of 64 hexadecimal digits. */
export const publicKeyOf = (publicKey: string): KeyObject =>
  createPublicKey({ key: derOf(publicKey), format: 'der', type: 'spki' })

const derOf = (publicKey: string): Buffer =>
  Buffer.concat([PUBLIC_HEAD, Buffer.from(publicKey, 'hex')])
