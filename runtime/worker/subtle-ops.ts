/** WebCrypto for the guest: digests, HMAC and signatures. Each question brings its key along. */
import type { JsonWebKeyInput, KeyObject } from 'node:crypto'
import { holdsPlaceholder } from '../contract/connector/placeholder.ts'
import { isKeyOf } from '../contract/schema/keys.ts'
import { nodeCrypto } from './node-crypto.ts'
import { bytes, type JsonObject, Refusal, record, text, tooLong } from './sync-args.ts'

const KEY_CHARS = 64 * 1024
const RSA_BITS = 8192

type Jwk = JsonWebKeyInput['key']

/**
 * Carries out one operation of `crypto.subtle` and returns its result as text.
 *
 * @throws Refusal
 */
export function subtleOp(given: unknown): string {
  const request = record(given, 'request')
  const name = String(request['do'])
  const run = Object.hasOwn(SUBTLE, name) ? SUBTLE[name] : undefined
  if (!run) throw new Refusal('NotSupportedError: no such operation of crypto.subtle')
  return run(request)
}

const SUBTLE: Record<string, (request: JsonObject) => string> = {
  digest: ({ hash, data }) => {
    const given = bytes(data)
    refuseSecret(given.subarray(0, KEY_CHARS).toString('latin1'), 'hashed')
    return nodeCrypto().createHash(hashOf(hash)).update(given).digest('base64')
  },

  importKey: ({ format, key, algorithm }) => {
    const given = record(algorithm, 'algorithm')
    const spec = algorithmOf(given)
    refuseSecretKey(key)
    const imported = spec.importKey(text(format, 10, 'format'), key, given)
    return JSON.stringify({
      ...imported,
      algorithm: { name: spec.name, ...imported.algorithm },
    } satisfies Imported)
  },

  sign: ({ algorithm, type, material, data }) => {
    const given = record(algorithm, 'algorithm')
    const key = { type: text(type, 10, 'key type'), material: text(material, KEY_CHARS, 'key') }
    return algorithmOf(given).sign(given, key, bytes(data)).toString('base64')
  },

  verify: ({ algorithm, type, material, signature, data }) => {
    const given = record(algorithm, 'algorithm')
    const key = { type: text(type, 10, 'key type'), material: text(material, KEY_CHARS, 'key') }
    return String(algorithmOf(given).verify(given, key, bytes(signature), bytes(data)))
  },
}

/**
 * Refuses a secret of the call as a key. In the sandbox a secret is a placeholder: as text, base64-decoded or
 * in a JWK. A result computed with it would be wrong without an explanation.
 */
function refuseSecretKey(key: unknown): void {
  if (typeof key !== 'string') return refuseSecret(JSON.stringify(key) ?? '', 'used as a key')
  refuseSecret(key, 'used as a key')
  refuseSecret(Buffer.from(key, 'base64').toString('latin1'), 'used as a key')
}

function refuseSecret(given: string, how: string): void {
  if (holdsPlaceholder(given.slice(0, KEY_CHARS)))
    throw new Refusal(
      `NotSupportedError: a secret of the call cannot be ${how} in the sandbox, which does not hold it: sign with ctx.sign.jwt(), ctx.sign.serviceAccount(), ctx.sign.oauth1() or ctx.sign.aws()`,
    )
}

type Material = { type: string; material: string }
type Imported = Material & { algorithm: JsonObject }
type Algorithm = {
  name: string
  importKey(format: string, key: unknown, given: JsonObject): Imported
  sign(given: JsonObject, key: Material, data: Buffer): Buffer
  verify(given: JsonObject, key: Material, signature: Buffer, data: Buffer): boolean
}
type Options = { dsaEncoding?: 'ieee-p1363'; padding?: number; saltLength?: number }

const HASHES = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
}
const CURVES: Record<string, { node: string; bytes: number }> = {
  'P-256': { node: 'prime256v1', bytes: 32 },
  'P-384': { node: 'secp384r1', bytes: 48 },
  'P-521': { node: 'secp521r1', bytes: 66 },
}

const ALGORITHMS: Record<string, Algorithm> = {
  HMAC: {
    name: 'HMAC',
    importKey: (format, key, given) => {
      const raw = secretBytes(format, key)
      if (raw.length === 0) throw new Refusal('DataError: the key is empty')
      return {
        type: 'secret',
        material: raw.toString('base64'),
        algorithm: { hash: { name: hashName(given['hash']) }, length: raw.length * 8 },
      }
    },
    sign: (given, key, data) =>
      nodeCrypto().createHmac(hashOf(given['hash']), bytes(key.material)).update(data).digest(),
    verify: (given, key, signature, data) => {
      const expected = nodeCrypto()
        .createHmac(hashOf(given['hash']), bytes(key.material))
        .update(data)
        .digest()
      return (
        expected.length === signature.length && nodeCrypto().timingSafeEqual(expected, signature)
      )
    },
  },
  'RSASSA-PKCS1-V1_5': rsa('RSASSA-PKCS1-v1_5', () => ({
    padding: nodeCrypto().constants.RSA_PKCS1_PADDING,
  })),
  'RSA-PSS': rsa('RSA-PSS', (given) => ({
    padding: nodeCrypto().constants.RSA_PKCS1_PSS_PADDING,
    saltLength: saltLength(given['saltLength']),
  })),
  ECDSA: asymmetric({
    name: 'ECDSA',
    describe: (key, given) => {
      const curve = curveOf(given['namedCurve'])
      if (key.asymmetricKeyDetails?.namedCurve !== curve.node) throw otherKey('ECDSA')
      return { namedCurve: String(given['namedCurve']) }
    },
    rawToJwk: (raw, given) => ecPoint(raw, given),
    hash: (given) => hashOf(given['hash']),
    options: () => ({ dsaEncoding: 'ieee-p1363' }),
  }),
  ED25519: asymmetric({
    name: 'Ed25519',
    describe: (key) => {
      if (key.asymmetricKeyType !== 'ed25519') throw otherKey('Ed25519')
      return {}
    },
    rawToJwk: (raw) => ({ kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }),
    hash: () => null,
    options: () => ({}),
  }),
}

type Asymmetric = {
  name: string
  describe(key: KeyObject, given: JsonObject): JsonObject
  rawToJwk(raw: Buffer, given: JsonObject): Jwk
  hash(given: JsonObject): string | null
  options(given: JsonObject): Options
}

function asymmetric(spec: Asymmetric): Algorithm {
  return {
    name: spec.name,
    importKey: (format, key, given) => {
      const object = readKey(spec, format, key, given)
      const algorithm = spec.describe(object, given)
      const type = object.type
      const der =
        type === 'private'
          ? object.export({ format: 'der', type: 'pkcs8' })
          : object.export({ format: 'der', type: 'spki' })
      return { type, material: der.toString('base64'), algorithm }
    },
    sign: (given, key, data) => {
      if (key.type !== 'private') throw new Refusal('InvalidAccessError: the key is not private')
      const object = nodeCrypto().createPrivateKey({
        key: bytes(key.material),
        format: 'der',
        type: 'pkcs8',
      })
      spec.describe(object, given)
      return nodeCrypto().sign(spec.hash(given), data, { key: object, ...spec.options(given) })
    },
    verify: (given, key, signature, data) => {
      if (key.type !== 'public') throw new Refusal('InvalidAccessError: the key is not public')
      const object = nodeCrypto().createPublicKey({
        key: bytes(key.material),
        format: 'der',
        type: 'spki',
      })
      spec.describe(object, given)
      return nodeCrypto().verify(
        spec.hash(given),
        data,
        { key: object, ...spec.options(given) },
        signature,
      )
    },
  }
}

function rsa(name: string, options: (given: JsonObject) => Options): Algorithm {
  return asymmetric({
    name,
    describe: (key, given) => {
      const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
      if (key.asymmetricKeyType !== 'rsa') throw otherKey(name)
      if (modulusLength > RSA_BITS || publicExponent >= 2n ** 64n)
        throw new Refusal(`NotSupportedError: RSA keys have at most ${RSA_BITS} bits`)
      const exponent = Buffer.from(publicExponent.toString(16).padStart(6, '0'), 'hex')
      return {
        modulusLength,
        publicExponent: [...exponent],
        hash: { name: hashName(given['hash']) },
      }
    },
    rawToJwk: () => {
      throw new Refusal(`NotSupportedError: ${name} has no raw keys`)
    },
    hash: (given) => hashOf(given['hash']),
    options,
  })
}

function readKey(spec: Asymmetric, format: string, key: unknown, given: JsonObject): KeyObject {
  try {
    if (format === 'pkcs8')
      return nodeCrypto().createPrivateKey({ key: bytes(key), format: 'der', type: 'pkcs8' })
    if (format === 'spki')
      return nodeCrypto().createPublicKey({ key: bytes(key), format: 'der', type: 'spki' })
    if (format === 'raw') return fromJwk(spec.rawToJwk(bytes(key), given))
    // The cast: Node checks the members.
    if (format === 'jwk') return fromJwk(record(key, 'key') as Jwk)
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('DataError: the key cannot be read')
  }
  throw new Refusal('NotSupportedError: key formats are raw, pkcs8, spki and jwk')
}

function fromJwk(key: Jwk): KeyObject {
  if (JSON.stringify(key).length > KEY_CHARS) throw tooLong('key', KEY_CHARS, 'characters')
  const input = { key, format: 'jwk' } as const
  return key.d === undefined
    ? nodeCrypto().createPublicKey(input)
    : nodeCrypto().createPrivateKey(input)
}

function secretBytes(format: string, key: unknown): Buffer {
  if (format === 'raw') return Buffer.from(text(key, KEY_CHARS, 'key'), 'base64')
  if (format !== 'jwk') throw new Refusal('NotSupportedError: HMAC keys are raw or jwk')
  const { kty, k } = record(key, 'key')
  if (kty !== 'oct') throw new Refusal('DataError: the key is not of kty oct')
  return Buffer.from(text(k, KEY_CHARS, 'key'), 'base64url')
}

function ecPoint(raw: Buffer, given: JsonObject): Jwk {
  const size = curveOf(given['namedCurve']).bytes
  if (raw.length !== 2 * size + 1 || raw[0] !== 4)
    throw new Refusal('DataError: the key is not an uncompressed point')
  return {
    kty: 'EC',
    crv: String(given['namedCurve']),
    x: raw.subarray(1, 1 + size).toString('base64url'),
    y: raw.subarray(1 + size).toString('base64url'),
  }
}

function algorithmOf(given: JsonObject): Algorithm {
  const name = String(given['name']).toUpperCase()
  const found = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined
  if (found === undefined) throw new Refusal('NotSupportedError: no such algorithm')
  return found
}

function hashName(given: unknown): keyof typeof HASHES {
  const name = (typeof given === 'string' ? given : '').toUpperCase()
  if (isKeyOf(HASHES, name)) return name
  throw new Refusal('NotSupportedError: hashes are SHA-1, SHA-256, SHA-384 and SHA-512')
}

function hashOf(given: unknown): string {
  return HASHES[hashName(given)]
}

function curveOf(given: unknown): { node: string; bytes: number } {
  const name = String(given)
  const curve = Object.hasOwn(CURVES, name) ? CURVES[name] : undefined
  if (curve === undefined) throw new Refusal('NotSupportedError: curves are P-256, P-384 and P-521')
  return curve
}

function saltLength(given: unknown): number {
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= 512)
    return given
  throw new Refusal('TypeError: saltLength is a number of bytes')
}

function otherKey(name: string): Refusal {
  return new Refusal(`DataError: the key is not a key for ${name}`)
}
