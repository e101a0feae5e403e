import {
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  createCallMark,
  createMarks,
  secretPlaceholder,
} from '../../../runtime/contract/connector/placeholder.ts'
import { createGuest, type Guest } from './isolate.ts'

let guest: Guest
beforeAll(async () => {
  guest = await createGuest(
    '({})',
    `globalThis.bytes = (text) => Uint8Array.fromBase64(text); globalThis.text = (buffer) => new Uint8Array(buffer).toBase64()
     globalThis.data = new TextEncoder().encode('data')`,
  )
})

const DATA = Buffer.from('data')
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })
const P256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const P521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const ED = generateKeyPairSync('ed25519')

type Pair = { publicKey: KeyObject; privateKey: KeyObject }
type Case = {
  pair: Pair
  given: object
  use: object
  hash: string | null
  node: object
}
const CASES: Record<string, Case> = {
  RS256: {
    pair: RSA,
    given: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    use: { name: 'rsassa-pkcs1-v1_5' },
    hash: 'sha256',
    node: {},
  },
  PS384: {
    pair: RSA,
    given: { name: 'RSA-PSS', hash: { name: 'SHA-384' } },
    use: { name: 'RSA-PSS', saltLength: 48 },
    hash: 'sha384',
    node: { padding: 6, saltLength: 48 },
  },
  ES256: {
    pair: P256,
    given: { name: 'ECDSA', namedCurve: 'P-256' },
    use: { name: 'ECDSA', hash: 'SHA-256' },
    hash: 'sha256',
    node: { dsaEncoding: 'ieee-p1363' },
  },
  ES512: {
    pair: P521,
    given: { name: 'ECDSA', namedCurve: 'P-521' },
    use: { name: 'ECDSA', hash: { name: 'SHA-512' } },
    hash: 'sha512',
    node: { dsaEncoding: 'ieee-p1363' },
  },
  Ed25519: { pair: ED, given: { name: 'Ed25519' }, use: { name: 'Ed25519' }, hash: null, node: {} },
}

test.each(['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'])(
  '%s has the same digest as node:crypto',
  async (name) => {
    const expected = createHash(name.replace('-', '')).update(DATA).digest('base64')
    expect(
      await guest.value(`crypto.subtle.digest('${name.toLowerCase()}', data).then(text)`),
    ).toBe(expected)
  },
)

test('HMAC signs and verifies as node:crypto does', async () => {
  const key = Buffer.from('key').toString('base64')
  const code = `(async () => {
    const key = await crypto.subtle.importKey('raw', bytes('${key}'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
    const mac = await crypto.subtle.sign('HMAC', key, data)
    return [text(mac), await crypto.subtle.verify('HMAC', key, mac, data), await crypto.subtle.verify('HMAC', key, mac.slice(1), data), key.type, key.algorithm] })()`
  expect(await guest.value(code)).toEqual([
    createHmac('sha256', 'key').update(DATA).digest('base64'),
    true,
    false,
    'secret',
    { name: 'HMAC', hash: { name: 'SHA-256' }, length: 24 },
  ])
})

test.each(Object.keys(CASES))(
  '%s signatures of the sandbox verify in node:crypto',
  async (name) => {
    const { pair, given, use, hash, node } = CASES[name] as Case
    const key = pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
    const code = `crypto.subtle.importKey('pkcs8', bytes('${key}'), ${JSON.stringify(given)}, false, ['sign']).then((key) => crypto.subtle.sign(${JSON.stringify(use)}, key, data)).then(text)`
    const signature = Buffer.from((await guest.value(code)) as string, 'base64')
    expect(verify(hash, DATA, { key: pair.publicKey, ...node }, signature)).toBe(true)
  },
)

test.each(Object.keys(CASES))(
  '%s signatures of node:crypto verify in the sandbox',
  async (name) => {
    const { pair, given, use, hash, node } = CASES[name] as Case
    const signature = sign(hash, DATA, { key: pair.privateKey, ...node }).toString('base64')
    const key = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    const code = `(async () => {
    const key = await crypto.subtle.importKey('spki', bytes('${key}'), ${JSON.stringify(given)}, true, ['verify'])
    const check = (what) => crypto.subtle.verify(${JSON.stringify(use)}, key, bytes('${signature}'), what)
    return [await check(data), await check(data.slice(1)), key.type] })()`
    expect(await guest.value(code)).toEqual([true, false, 'public'])
  },
)

test.each(Object.keys(CASES))('%s keys are read from JWK', async (name) => {
  const { pair, given, use, hash, node } = CASES[name] as Case
  const jwk = JSON.stringify(pair.privateKey.export({ format: 'jwk' }))
  const code = `crypto.subtle.importKey('jwk', ${jwk}, ${JSON.stringify(given)}, false, ['sign']).then((key) => crypto.subtle.sign(${JSON.stringify(use)}, key, data)).then(text)`
  const signature = Buffer.from((await guest.value(code)) as string, 'base64')
  expect(verify(hash, DATA, { key: createPublicKey(pair.privateKey), ...node }, signature)).toBe(
    true,
  )
})

test.each([
  [
    'ES256',
    (jwk: { x?: string; y?: string }) => Buffer.concat([Buffer.of(4), point(jwk.x), point(jwk.y)]),
  ],
  ['Ed25519', (jwk: { x?: string; y?: string }) => point(jwk.x)],
])('raw public keys of %s are read', async (name, rawOf) => {
  const { pair, given, use, hash, node } = CASES[name] as Case
  const raw = rawOf(
    pair.publicKey.export({ format: 'jwk' }) as { x?: string; y?: string },
  ).toString('base64')
  const signature = sign(hash, DATA, { key: pair.privateKey, ...node }).toString('base64')
  const code = `crypto.subtle.importKey('raw', bytes('${raw}'), ${JSON.stringify(given)}, true, ['verify']).then((key) => crypto.subtle.verify(${JSON.stringify(use)}, key, bytes('${signature}'), data))`
  expect(await guest.value(code)).toBe(true)
})

test('an imported RSA key describes itself as in WebCrypto', async () => {
  const key = RSA.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const code = `crypto.subtle.importKey('spki', bytes('${key}'), { name: 'RSA-PSS', hash: 'SHA-1' }, true, ['verify']).then(({ algorithm }) => [algorithm.name, algorithm.modulusLength, [...algorithm.publicExponent], algorithm.hash])`
  expect(await guest.value(code)).toEqual(['RSA-PSS', 2048, [1, 0, 1], { name: 'SHA-1' }])
})

const IMPORT = `crypto.subtle.importKey('raw', data, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])`
test.each([
  [`crypto.subtle.digest('MD5', data)`, /^NotSupportedError: hashes are/],
  [`crypto.subtle.digest('SHA-256', 'text')`, /^TypeError: the data is not an ArrayBuffer/],
  [
    `crypto.subtle.digest('SHA-256', new Uint8Array((16 << 20) + 1))`,
    /^RangeError: the data is over the limit/,
  ],
  [
    `crypto.subtle.importKey('pkcs8', data, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])`,
    /^DataError: the key cannot be read/,
  ],
  [
    `crypto.subtle.importKey('raw', data, { name: 'HMAC', hash: 'SHA-256' }, false, ['encrypt'])`,
    /^SyntaxError: a secret key is for sign and verify/,
  ],
  [
    `crypto.subtle.importKey('raw', data, { name: 'HMAC', hash: 'SHA-256' }, false, [])`,
    /^SyntaxError: a secret key needs a usage/,
  ],
  [
    `crypto.subtle.importKey('raw', data, { name: 'AES-GCM' }, false, ['encrypt'])`,
    /^NotSupportedError: no such algorithm/,
  ],
  [
    `${IMPORT}.then((key) => crypto.subtle.verify('HMAC', key, data, data))`,
    /^InvalidAccessError: the key is not for verify/,
  ],
  [
    `${IMPORT}.then((key) => crypto.subtle.sign('Ed25519', key, data))`,
    /^InvalidAccessError: the key is for HMAC/,
  ],
  [
    `crypto.subtle.encrypt({ name: 'AES-GCM' }, null, data)`,
    /^NotSupportedError: the sandbox has no crypto.subtle.encrypt/,
  ],
])('%s is refused', async (code, message) => {
  expect(await guest.thrown(code)).toMatch(message)
})

test('the material of a key is not visible on the key', async () => {
  const code = `${IMPORT}.then((key) => JSON.stringify([key, Reflect.ownKeys(key)]))`
  const seen = await guest.value(code)
  expect(seen).toContain('HMAC')
  expect(seen).not.toContain(DATA.toString('base64'))
})

function point(part: string | undefined): Buffer {
  return Buffer.from(part ?? '', 'base64url')
}

describe('a secret of the call, which is a placeholder here, is refused with a message that names ctx.sign.jwt', () => {
  const PLACEHOLDER = secretPlaceholder(createMarks(), createCallMark(), 0)
  const PEM = `-----BEGIN PRIVATE KEY-----\n${PLACEHOLDER}\n-----END PRIVATE KEY-----`
  const hmac = `{ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']`

  test.each([
    ['as a raw key', `importKey('raw', new TextEncoder().encode('${PLACEHOLDER}'), ${hmac})`],
    ['decoded from base64', `importKey('raw', bytes('${PLACEHOLDER}'), ${hmac})`],
    ['as a JWK', `importKey('jwk', { kty: 'oct', k: '${PLACEHOLDER}' }, ${hmac})`],
    [
      'as the body of a PEM file',
      `importKey('pkcs8', bytes(\`${PEM}\`.replace(/-----[^-]+-----|\\s/g, '')), { name: 'Ed25519' }, false, ['sign'])`,
    ],
    ['as the data to hash', `digest('SHA-256', new TextEncoder().encode('key${PLACEHOLDER}'))`],
  ])('%s', async (_name, use) => {
    expect(await guest.thrown(`crypto.subtle.${use}`)).toMatch(/ctx\.sign\.jwt/)
  })
})
