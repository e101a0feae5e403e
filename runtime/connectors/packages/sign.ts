/**
 * Signatures of packages: Ed25519, detached, over `digests.json`. A key identifies a publisher; operators
 * store the keys that they trust. The format name is part of the signed text, so that a signature made for
 * anything else is invalid here.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import * as v from 'valibot'
import { type Package, PackageError } from './format.ts'

const FORM = 'keyway-package-1'

/** Header of an upload with the content of `<package>.sig`, in base64. */
export const SIGNATURE_HEADER = 'keyway-signature'

const KeyId = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{22}$/))

/** Content of the file `<package>.sig`, or of the signature of another text. */
const Signature = v.strictObject({
  form: v.pipe(v.string(), v.maxLength(50)),
  /** Key id: a digest of the public key. */
  key: KeyId,
  signature: v.pipe(v.string(), v.base64(), v.maxLength(100)),
})
type Signature = v.InferOutput<typeof Signature>

/** A stored key pair in PEM. The private key is readable only by its owner. */
type KeyPair = { id: string; privateKey: string; publicKey: string }

/** Result of verifying a signature. */
type Trust =
  | { state: 'trusted'; key: string; publisher: string }
  | { state: 'untrusted'; key: string | null }
  | { state: 'invalid'; why: string; isRevoked?: true }

/** A key that the operator trusts or has trusted; `public_key` is PEM. */
export type KnownPublisher = {
  key: string
  name: string
  public_key: string
  revoked_at: string | null
}

/** Generates a key pair. */
export function makeKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    id: keyIdOf(publicKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** Returns the id of a key: 22 characters of its digest. */
function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('base64url').slice(0, 22)
}

/**
 * Reads the public key of a publisher.
 *
 * @throws PackageError if it is not an Ed25519 key
 */
export function readPublicKey(pem: string): { id: string; key: KeyObject } {
  const key = keyOf(() => createPublicKey(pem))
  return { id: keyIdOf(key), key }
}

/**
 * Returns the public key of a private key, as PEM.
 *
 * @throws PackageError if it is not an Ed25519 key
 */
export const publicPemOf = (privateKeyPem: string): string =>
  createPublicKey(privateKeyOf(privateKeyPem)).export({ type: 'spki', format: 'pem' }).toString()

/**
 * Signs a package.
 *
 * @throws PackageError if the key is not an Ed25519 key
 */
export const signPackage = ({ digestsText }: Package, privateKeyPem: string): Signature =>
  signText(FORM, digestsText, privateKeyPem)

/**
 * Signs a text in some format.
 *
 * @throws PackageError if the key is not an Ed25519 key
 */
export function signText(form: string, text: string, privateKeyPem: string): Signature {
  const key = privateKeyOf(privateKeyPem)
  const signature = sign(null, signedBytes(form, text), key).toString('base64')
  return { form, key: keyIdOf(createPublicKey(key)), signature }
}

/**
 * Verifies a package's signature for an operator who trusts these publishers. A signature by an unknown key
 * cannot be verified and is `untrusted`, like a missing one.
 */
export const trustOf = (
  { digestsText }: Pick<Package, 'digestsText'>,
  signatureText: string | null,
  publishers: readonly KnownPublisher[],
): Trust => trustOfText(FORM, digestsText, signatureText, publishers)

/** The same for a text in some format. */
export function trustOfText(
  form: string,
  text: string,
  signatureText: string | null,
  publishers: readonly KnownPublisher[],
): Trust {
  if (signatureText === null) return { state: 'untrusted', key: null }
  const signature = parse(form, signatureText)
  if (typeof signature === 'string') return { state: 'invalid', why: signature }
  const publisher = publishers.find(({ key }) => key === signature.key)
  if (!publisher) return { state: 'untrusted', key: signature.key }
  if (publisher.revoked_at !== null)
    return {
      ...{ state: 'invalid', isRevoked: true },
      why: `it is signed by ${publisher.name} with a key that is no longer trusted since ${publisher.revoked_at}`,
    }
  const { id, key } = readPublicKey(publisher.public_key)
  const good =
    id === signature.key &&
    verify(null, signedBytes(form, text), key, Buffer.from(signature.signature, 'base64'))
  return good
    ? { state: 'trusted', key: signature.key, publisher: publisher.name }
    : {
        state: 'invalid',
        why: `it is not the signature of ${publisher.name} over this ${form === FORM ? 'package' : 'text'}`,
      }
}

/**
 * Returns the key that a package's signature names, or null if the text is not a signature. Does not verify
 * it.
 */
export function namedKey(signatureText: string): string | null {
  const signature = parse(FORM, signatureText)
  return typeof signature === 'string' ? null : signature.key
}

const signedBytes = (form: string, text: string): Buffer => Buffer.from(`${form}\n${text}`)

/** Parses a signature. Returns a description of the problem if it is invalid. */
function parse(form: string, text: string): Signature | string {
  try {
    const parsed = v.safeParse(Signature, JSON.parse(text))
    return parsed.success && parsed.output.form === form
      ? parsed.output
      : 'the signature has not the form of one'
  } catch {
    return 'the signature is not JSON'
  }
}

function privateKeyOf(pem: string): KeyObject {
  if (pem.includes('PUBLIC KEY'))
    throw new PackageError(
      'this is a public key, which signs nothing; name the private one, which keyway keygen wrote beside it without .pub',
    )
  return keyOf(() => createPrivateKey(pem))
}

function keyOf(make: () => KeyObject): KeyObject {
  let key: KeyObject
  try {
    key = make()
  } catch (cause) {
    throw new PackageError('the key cannot be read; it must be PEM, as keyway keygen writes it', {
      cause,
    })
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new PackageError(`the key is ${key.asymmetricKeyType}; packages are signed with Ed25519`)
  return key
}
