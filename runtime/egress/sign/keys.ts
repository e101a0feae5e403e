/** Reads keys in the usual formats: PEM of every kind, JWK, or a text shared with the upstream. */
import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto'
import { SignError } from './signer.ts'

/** Returns the key in a secret, for the algorithm `alg` if it is known. @throws SignError */
export function readKey(secret: string, alg: string | null): KeyObject {
  // Environment variables and forms often hold line breaks as `\n`.
  const text = secret.includes('\\n') ? secret.replaceAll('\\n', '\n') : secret
  const isPrivate = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
  if (alg?.startsWith('HS') || (alg === null && !isPrivate && !text.trimStart().startsWith('{')))
    return createSecretKey(Buffer.from(secret))
  try {
    return isPrivate
      ? createPrivateKey(text)
      : createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
  } catch {
    // Without the parser's message, which may repeat a part of the key.
    throw new SignError(
      'the private key cannot be read: it has to be PEM (PKCS#8, PKCS#1 or SEC1, not encrypted) or a JWK',
    )
  }
}

const BY_CURVE: Record<string, string> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

/** Returns the default algorithm for a key. @throws SignError if there is none */
export function algorithmOf(key: KeyObject): string {
  if (key.type === 'secret') return 'HS256'
  if (key.asymmetricKeyType === 'rsa') return 'RS256'
  if (key.asymmetricKeyType === 'ed25519') return 'EdDSA'
  const alg = BY_CURVE[key.asymmetricKeyDetails?.namedCurve ?? '']
  if (alg !== undefined) return alg
  throw new SignError(`there is no algorithm for a key of type ${key.asymmetricKeyType}`)
}
