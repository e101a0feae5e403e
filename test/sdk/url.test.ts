import { expect, test } from 'vitest'
import { path } from '../../runtime/sdk/sdk.ts'
import { joinUrl } from '../../runtime/sdk/url.ts'

test.each([
  ['https://a.example', '/users', 'https://a.example/users'],
  ['https://a.example/', '/users', 'https://a.example/users'],
  ['https://a.example/v1', '/users', 'https://a.example/v1/users'],
  ['https://a.example/v1//', 'users', 'https://a.example/v1/users'],
  ['https://a.example/v1', '', 'https://a.example/v1'],
  ['https://a.example', '@evil.example/', 'https://a.example/@evil.example/'],
  ['https://a.example', '.evil.example/', 'https://a.example/.evil.example/'],
  ['https://a.example', '//evil.example/', 'https://a.example//evil.example/'],
  ['https://a.example', 'https://a.example/v2/x?page=2', 'https://a.example/v2/x?page=2'],
])('joins %s and %s', (base, target, expected) => {
  expect(joinUrl(base, target)).toBe(expected)
})

test('encodes segments given as an array', () => {
  expect(joinUrl('https://a.example', ['users', 'a/b?c#d%', 7])).toBe(
    'https://a.example/users/a%2Fb%3Fc%23d%25/7',
  )
})

test('encodes the values of a path template', () => {
  expect(path`/users/${'a/../b'}/roles/${7}?full=1`).toBe('/users/a%2F..%2Fb/roles/7?full=1')
})

test.each(['..', '.', ''])('refuses the id %j, which would change the path', (id) => {
  expect(() => path`/users/${id}`).toThrow(expect.objectContaining({ error_code: 'bad_request' }))
  expect(() => joinUrl('https://a.example', ['users', id])).toThrow(
    expect.objectContaining({ error_code: 'bad_request' }),
  )
})

test.each(['\ud83d', 'a\udc00b'])('refuses the half of a character in %j', (half) => {
  const refusal = { error_code: 'bad_request', message: expect.stringContaining('half of a char') }
  for (const address of [
    () => path`/users/${half}`,
    () => joinUrl('https://a.example', ['users', half]),
    () => joinUrl('https://a.example', '/users', { name: half }),
  ])
    expect(address).toThrow(expect.objectContaining(refusal))
})

test.each(['/a/../b', '/a/%2E%2e/b', '/a/./b', '/a\\..\\b', '..', '/a/..?x=1'])(
  'refuses the path %s',
  (target) => {
    expect(() => joinUrl('https://a.example/v1', target)).toThrow(/\. or \.\./)
  },
)

test('allows dots in names and in the query', () => {
  expect(joinUrl('https://a.example', '/a..b/.well-known/x?q=/../')).toBe(
    'https://a.example/a..b/.well-known/x?q=/../',
  )
})

test.each(['https://evil.example/x', 'http://a.example/x', 'https://a.example:444/', 'data:x'])(
  'refuses %s, which is of another origin',
  (target) => {
    expect(() => joinUrl('https://a.example', target)).toThrow(
      expect.objectContaining({ error_code: 'permission_denied' }),
    )
  },
)

test('writes the query: skips what is absent, repeats arrays, encodes', () => {
  const query = { a: 1, b: undefined, c: null, d: ['x', 'y'], e: false, 'f g': 'a&b c+"', h: [] }
  expect(joinUrl('https://a.example', '/u?z=1', query)).toBe(
    'https://a.example/u?z=1&a=1&d=x&d=y&e=false&f%20g=a%26b%20c%2B%22',
  )
})
