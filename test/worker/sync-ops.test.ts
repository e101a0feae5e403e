import { createHash, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { syncOp } from '../../runtime/worker/sync-ops.ts'

const ask = (op: string, ...args: unknown[]): string => syncOp(op, JSON.stringify(args))

test('a URL is returned as its parts', () => {
  expect(JSON.parse(ask('url', '/b?c#d', 'https://a.example:81').slice(1))).toEqual([
    'https://a.example:81/b?c#d',
    'https://a.example:81',
    'https:',
    '',
    '',
    'a.example:81',
    'a.example',
    '81',
    '/b',
    '?c',
    '#d',
  ])
})

test.each([
  ['an unknown operation', syncOp('constructor', '[]'), '!NotSupportedError: no such operation'],
  ['__proto__', syncOp('__proto__', '[]'), '!NotSupportedError: no such operation'],
  ['arguments that are not JSON', syncOp('url', '{'), '!OperationError: the operation failed'],
  [
    'arguments that are not an array',
    syncOp('url', 'null'),
    '!TypeError: the arguments are not an array',
  ],
  ['a URL that is a number', ask('url', 1), '!TypeError: the address is not text'],
  ['an invalid URL', ask('url', 'x', null), '!TypeError: Invalid URL'],
  [
    'a long URL',
    ask('url', 'x'.repeat(65537), null),
    '!RangeError: the address is over the limit of 65536 characters',
  ],
  [
    'a long base',
    ask('url', 'x', 'x'.repeat(65537)),
    '!RangeError: the base is over the limit of 65536 characters',
  ],
  [
    'an unknown part of a URL',
    ask('url.set', 'https://a.example', '__proto__', 'x'),
    '!TypeError: no such part of a URL',
  ],
  [
    'a part that is read-only',
    ask('url.set', 'https://a.example', 'origin', 'x'),
    '!TypeError: no such part of a URL',
  ],
  [
    'an invalid address as href',
    ask('url.set', 'https://a.example', 'href', 'x'),
    '!TypeError: Invalid URL',
  ],
  [
    'too many random bytes',
    ask('random', 65537),
    '!RangeError: the number of random bytes is over the limit of 65536 bytes',
  ],
  [
    'a negative number of random bytes',
    ask('random', -1),
    '!TypeError: the number of bytes is not a number',
  ],
  [
    'a number of random bytes that is text',
    ask('random', '1e9'),
    '!TypeError: the number of bytes is not a number',
  ],
  ['an unknown encoding', ask('encoding', 'klingon'), '!RangeError: there is no such encoding'],
  [
    'malformed text',
    ask('decode', '/w==', 'utf-8', true, false),
    '!TypeError: The encoded data was not valid utf-8',
  ],
  [
    'a subtle request that is not an object',
    ask('subtle', null),
    '!TypeError: the request is not an object',
  ],
  [
    'an unknown subtle operation',
    ask('subtle', { do: 'toString' }),
    '!NotSupportedError: no such operation of crypto.subtle',
  ],
  [
    'an inherited algorithm',
    ask('subtle', { do: 'importKey', format: 'raw', key: '', algorithm: { name: 'constructor' } }),
    '!NotSupportedError: no such algorithm',
  ],
  [
    'input over the limit',
    syncOp('decode', ' '.repeat(30 << 20)),
    '!RangeError: the input is over the limit of 16777216 bytes',
  ],
])('%s is refused with a message', (_name, answer, expected) => {
  expect(answer).toBe(expected)
})

test('the largest input that is allowed is digested', () => {
  const data = Buffer.alloc(16 << 20)
  const digest = createHash('sha256').update(data).digest('base64')
  expect(ask('subtle', { do: 'digest', hash: 'SHA-256', data: data.toString('base64') })).toBe(
    `+${digest}`,
  )
})

test('the requested number of random bytes is returned', () => {
  expect(Buffer.from(ask('random', 65536).slice(1), 'base64')).toHaveLength(65536)
})

test('an RSA key larger than the limit is refused', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 512 })
  const jwk = publicKey.export({ format: 'jwk' })
  const key = { ...jwk, n: Buffer.alloc(1100, 0xff).toString('base64url') }
  const algorithm = { name: 'RSA-PSS', hash: 'SHA-256' }
  expect(ask('subtle', { do: 'importKey', format: 'jwk', key, algorithm })).toBe(
    '!NotSupportedError: RSA keys have at most 8192 bits',
  )
})

test('a key of another kind is refused', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  expect(ask('subtle', { do: 'importKey', format: 'pkcs8', key, algorithm })).toBe(
    '!DataError: the key is not a key for ECDSA',
  )
})

test('a public key cannot sign', () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  const material = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const algorithm = { name: 'Ed25519' }
  expect(ask('subtle', { do: 'sign', algorithm, type: 'public', material, data: '' })).toBe(
    '!InvalidAccessError: the key is not private',
  )
})

test('a failure inside the crypto library is reported without its message', () => {
  const algorithm = { name: 'Ed25519' }
  expect(
    ask('subtle', { do: 'sign', algorithm, type: 'private', material: 'AAAA', data: '' }),
  ).toBe('!OperationError: the operation failed')
})
