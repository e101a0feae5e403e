import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { packageOf } from '../../../runtime/connectors/packages/format.ts'
import {
  type KnownPublisher,
  makeKeyPair,
  readPublicKey,
  signPackage,
  trustOf,
} from '../../../runtime/connectors/packages/sign.ts'

const packageWith = (code: string) =>
  packageOf(
    { id: 'acme', version: '1.0.0', runtime: '^1.0.0' },
    new Map([
      ['connector.json', Buffer.from('{}')],
      ['code.js', Buffer.from(code)],
    ]),
  )
const good = packageWith('good()')
const [ours, theirs] = [makeKeyPair(), makeKeyPair()]
const publisher: KnownPublisher = {
  key: ours.id,
  name: 'Acme Inc.',
  public_key: ours.publicKey,
  revoked_at: null,
}
const signature = JSON.stringify(signPackage(good, ours.privateKey))

test('a signature of a trusted publisher is trusted', () => {
  expect(trustOf(good, signature, [publisher])).toEqual({
    state: 'trusted',
    key: ours.id,
    publisher: 'Acme Inc.',
  })
})

test('the id of a key is derived from its public half', () => {
  expect(readPublicKey(ours.publicKey).id).toBe(ours.id)
  expect(JSON.parse(signature).key).toBe(ours.id)
})

describe('the state is untrusted for', () => {
  test('a package without a signature', () => {
    expect(trustOf(good, null, [publisher])).toEqual({ state: 'untrusted', key: null })
  })

  test('a package signed by an unknown key', () => {
    expect(trustOf(good, signature, [])).toEqual({ state: 'untrusted', key: ours.id })
    const other = JSON.stringify(signPackage(good, theirs.privateKey))
    expect(trustOf(good, other, [publisher])).toEqual({ state: 'untrusted', key: theirs.id })
  })
})

describe('the state is invalid for', () => {
  const forged = (change: object) => JSON.stringify({ ...JSON.parse(signature), ...change })
  test.each([
    ['a signature over another package', packageWith('evil()'), signature],
    [
      'a signature by another key under the id of this one',
      good,
      forged({ signature: signPackage(good, theirs.privateKey).signature }),
    ],
    ['an empty signature', good, forged({ signature: '' })],
    ['a signature of another form', good, forged({ form: 'keyway-backup-1' })],
    ['a signature with an unknown member', good, forged({ alg: 'none' })],
    ['invalid JSON', good, 'signed, me'],
  ])('%s', (_what, one, text) => {
    expect(trustOf(one, text, [publisher])).toMatchObject({ state: 'invalid' })
  })

  test('a signature by another key than the one it names', () => {
    const swapped = { ...publisher, publicKey: theirs.publicKey }
    const made = signPackage(good, theirs.privateKey)
    expect(trustOf(good, JSON.stringify({ ...made, key: ours.id }), [swapped]).state).toBe(
      'invalid',
    )
  })
})

test.each([
  ['a text that is not a key', 'hello', 'cannot be read'],
  ['a public key', ours.publicKey, 'name the private one'],
  [
    'an RSA key',
    generateKeyPairSync('rsa', { modulusLength: 2048 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString(),
    'signed with Ed25519',
  ],
])('%s is refused as a signing key', (_what, pem, words) => {
  expect(() => signPackage(good, pem)).toThrow(words)
})
