import { bytesOf, fromBase64, toBase64 } from './bytes.ts'
import { askOrThrow, DOMException } from './dom-exception.ts'

type AlgorithmGiven = string | Record<string, unknown>
type Algorithm = { name: string; hash?: string; namedCurve?: string; saltLength?: number }
type Imported = {
  type: string
  material: string
  algorithm: Record<string, unknown> & { publicExponent?: number[] }
}

let makeKey: (imported: Imported, extractable: boolean, usages: string[]) => CryptoKey
let materialOf: (key: CryptoKey) => string
let allowed = false

/** WHATWG CryptoKey. The key material stays in a private field and is sent to the host with each use. */
export class CryptoKey {
  readonly type!: string
  readonly extractable!: boolean
  readonly algorithm!: Record<string, unknown>
  readonly usages!: string[]
  #material = ''

  static {
    makeKey = (imported, extractable, usages) => {
      allowed = true
      const key = new CryptoKey()
      allowed = false
      key.#material = imported.material
      const { publicExponent, ...algorithm } = imported.algorithm
      const full = publicExponent
        ? { ...algorithm, publicExponent: new Uint8Array(publicExponent) }
        : algorithm
      return Object.assign(key, { type: imported.type, extractable, algorithm: full, usages })
    }
    materialOf = (key) => key.#material
  }

  constructor() {
    if (!allowed) throw new TypeError('Illegal constructor')
  }
}

/** The sandbox's subset of WebCrypto: digest, HMAC and signatures. The host computes them. */
export class SubtleCrypto {
  async digest(algorithm: AlgorithmGiven, data: unknown): Promise<ArrayBuffer> {
    const answer = ask({ do: 'digest', hash: normalise(algorithm).name, data: base64(data) })
    return fromBase64(answer).buffer
  }

  async importKey(
    format: string,
    keyData: unknown,
    algorithm: AlgorithmGiven,
    extractable: boolean,
    usages: string[],
  ): Promise<CryptoKey> {
    const key = format === 'jwk' ? keyData : base64(keyData)
    const list = [...usages]
    const answer = ask({ do: 'importKey', format, key, algorithm: normalise(algorithm) })
    const imported: Imported = JSON.parse(answer)
    const possible = imported.type === 'secret' ? ['sign', 'verify'] : [SIDE[imported.type]]
    if (list.some((usage) => !possible.includes(usage))) {
      const text = `a ${imported.type} key is for ${possible.join(' and ')}, not ${list.join(', ')}`
      throw new DOMException(text, 'SyntaxError')
    }
    if (imported.type !== 'public' && list.length === 0)
      throw new DOMException(`a ${imported.type} key needs a usage`, 'SyntaxError')
    return makeKey(imported, Boolean(extractable), list)
  }

  async sign(algorithm: AlgorithmGiven, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    const request = useKey('sign', algorithm, key)
    return fromBase64(ask({ ...request, data: base64(data) })).buffer
  }

  async verify(
    algorithm: AlgorithmGiven,
    key: CryptoKey,
    signature: unknown,
    data: unknown,
  ): Promise<boolean> {
    const request = useKey('verify', algorithm, key)
    return ask({ ...request, signature: base64(signature), data: base64(data) }) === 'true'
  }
}

const SIDE: Record<string, string> = { private: 'sign', public: 'verify' }

const MISSING = [
  'encrypt',
  'decrypt',
  'generateKey',
  'exportKey',
  'deriveKey',
  'deriveBits',
  'wrapKey',
  'unwrapKey',
]
for (const name of MISSING) {
  Object.defineProperty(SubtleCrypto.prototype, name, {
    value: async () => {
      throw new DOMException(`the sandbox has no crypto.subtle.${name}`, 'NotSupportedError')
    },
    writable: true,
    configurable: true,
  })
}

function useKey(what: 'sign' | 'verify', given: AlgorithmGiven, key: CryptoKey): object {
  const algorithm = normalise(given)
  const ownName = `${key.algorithm['name']}`
  if (ownName.toUpperCase() !== algorithm.name.toUpperCase())
    throw new DOMException(`the key is for ${ownName}, not ${algorithm.name}`, 'InvalidAccessError')
  if (!key.usages.includes(what))
    throw new DOMException(`the key is not for ${what}`, 'InvalidAccessError')
  const bound = normalise(key.algorithm)
  return {
    do: what,
    algorithm: { ...algorithm, ...bound },
    type: key.type,
    material: materialOf(key),
  }
}

function normalise(given: AlgorithmGiven): Algorithm {
  if (typeof given === 'string') return { name: given }
  const { name, hash, namedCurve, saltLength } = given
  return {
    name: `${name}`,
    ...(hash === undefined ? {} : { hash: hashName(hash) }),
    ...(namedCurve === undefined ? {} : { namedCurve: `${namedCurve}` }),
    ...(saltLength === undefined ? {} : { saltLength: Number(saltLength) }),
  }
}

function hashName(hash: unknown): string {
  return typeof hash === 'object' && hash !== null && 'name' in hash ? `${hash.name}` : `${hash}`
}

function base64(data: unknown): string {
  return toBase64(bytesOf(data, 'data'))
}

function ask(request: object): string {
  return askOrThrow('subtle', [request])
}
