import { createHash, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  createSigner,
  fingerprintOf,
  publicKeyDigits,
  publicKeyOf,
} from '../../runtime/secrets/signing-key.ts'

const [OLD, NEW] = ['old-secret-'.repeat(4), 'new-secret-'.repeat(4)]
const bytes = Buffer.from('what is signed')

test('hosts with the same secret sign alike, and the newest of several secrets signs', () => {
  const [one, rotated] = [createSigner([OLD]), createSigner([NEW, OLD])]
  expect(createSigner([OLD]).sign(bytes)).toEqual(one.sign(bytes))
  expect(rotated.keys).toEqual([createSigner([NEW]).key, one.key])
  expect(rotated.key).not.toEqual(one.key)
  const signature = rotated.sign(bytes)
  expect(verify(null, bytes, publicKeyOf(rotated.key.publicKey), signature)).toBe(true)
  expect(verify(null, bytes, publicKeyOf(one.key.publicKey), signature)).toBe(false)
})

test('the fingerprint is the SHA-256 digest of the public key in DER form', () => {
  const { publicKey, fingerprint } = createSigner([OLD]).key
  const der = publicKeyOf(publicKey).export({ format: 'der', type: 'spki' })
  expect(createHash('sha256').update(der).digest('hex')).toBe(fingerprint)
  expect(fingerprintOf(publicKeyDigits(publicKeyOf(publicKey)))).toBe(fingerprint)
})
