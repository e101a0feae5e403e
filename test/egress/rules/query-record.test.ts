import { expect, test } from 'vitest'
import { tellQuery } from '../../../runtime/egress/rules/query-record.ts'
import { createRedact } from '../../../runtime/redact/redact.ts'

const same = (text: string) => text

test.each([
  ['', ''],
  ['?', ''],
  ['?limit=100&offset=20', '?limit=100&offset=20'],
  ['?filter=userName%20eq%20%22ada%40acme.example%22', '?filter=userName+eq+"ada@acme.example"'],
  ['?fields=id,name,emails[type]&active&empty=', '?fields=id,name,emails[type]&active&empty='],
  ['?since=2026-11-22', '?since=2026-11-22'],
  ['?a=1%262%3D3%0d%0aX', '?a=1%262%3D3%0D%0AX'],
])('%s is recorded as %s', (search, told) => {
  expect(tellQuery(search, same)).toBe(told)
})

test.each([
  ...['access_token', 'apiKey', 'client_secret', 'code', 'password', 'X-Amz-Signature', 'sig'],
  ...['auth', 'sessionId', 'oauth_nonce', 'pageToken', 'assertion', 'SAMLResponse', 'sid', 'pin'],
])('the value of %s is never recorded', (name) => {
  expect(tellQuery(`?${name}=red&limit=1`, same)).toBe(`?${name}=…&limit=1`)
})

test.each([
  'AKIAIOSFODNN7EXAMPLE',
  '3f0c1a52-8a4e-4a39-9b53-0d7c5a3a6a10',
  'eyJhbGciOiJIUzI1NiJ9.e30',
  'abcdefghijklmnopqrstuvwxyzabcdefgh',
  '%41KIAIOSFODNN7EXAMPLE',
  '%2541KIAIOSFODNN7EXAMPLE',
])('a value that looks machine-generated is hidden: %s', (value) => {
  expect(tellQuery(`?id=${value}`, same)).toBe('?id=…')
  expect(tellQuery(`?${value}=1&b=2`, same)).toBe('?…=…&b=2')
  expect(tellQuery(`?${value}`, same)).toBe('?…=…')
})

test('cursors are recorded only when they are short', () => {
  expect(tellQuery('?cursor=42', same)).toBe('?cursor=42')
  expect(tellQuery('?startAfter=users:ada:lovelace&page=3', same)).toBe('?startAfter=…&page=3')
})

test('secrets of the call are not recorded in any encoding, as value or as name', () => {
  const secrets = ['open sesame!', 'hunter-two', 'pässwörd-ü']
  const redact = createRedact(() => secrets)
  for (const secret of secrets) {
    const bytes = Buffer.from(secret)
    const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    const forms = [
      encodeURIComponent(secret),
      encodeURIComponent(encodeURIComponent(secret)),
      percent,
      encodeURIComponent(percent),
      new URLSearchParams({ q: secret }).toString().slice(2),
      encodeURIComponent(bytes.toString('base64')),
      bytes.toString('base64url'),
      encodeURIComponent(Buffer.from(`ada:${secret}`).toString('base64')),
      encodeURIComponent(`userName eq "${secret}"`),
    ]
    for (const form of forms) {
      expect(tellQuery(`?q=${form}&limit=5`, redact), form).toBe('?q=…&limit=5')
      expect(tellQuery(`?${form}=1&limit=5`, redact), form).toBe('?…=…&limit=5')
    }
  }
})

test('without a redactor only names are recorded', () => {
  expect(tellQuery('?limit=5&q=x', undefined)).toBe('?limit=…&q=…')
})

test('the record is bounded in count and length, and never truncated within a value', () => {
  const many = Array.from({ length: 5000 }, (_, nth) => `n${nth}=v${nth}`).join('&')
  const told = tellQuery(`?${many}`, same)
  expect(told.split('&')).toHaveLength(21)
  expect(tellQuery(`?${'x'.repeat(100_000)}=1`, same)).toBe('?&…')
  expect(tellQuery(`?${'a=%22%22%22&'.repeat(1)}${'n'.repeat(41)}=1`, same)).toBe('?a="""&…=…')
  const long = Array.from({ length: 20 }, (_, nth) => `n${nth}=${'long words '.repeat(5)}`).join(
    '&',
  )
  expect(tellQuery(`?${long}`, same).length).toBeLessThanOrEqual(501)
})
