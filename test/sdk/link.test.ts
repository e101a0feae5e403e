import { expect, test } from 'vitest'
import { nextLink } from '../../runtime/sdk/sdk.ts'
import { reply } from './fake-context.ts'

const linked = (link?: string) =>
  reply(200, '[]', link === undefined ? {} : { link }, 'https://api.example/v1/users?page=1')

test.each<[string, string, string | null]>([
  ['a quoted relation', '<https://x.example/2>; rel="next"', 'https://x.example/2'],
  ['a bare relation', '<https://x.example/2>;rel=next', 'https://x.example/2'],
  ['any case, loose spaces', '< https://x.example/2 > ; REL = "NEXT"', 'https://x.example/2'],
  ['several relations', '<https://x.example/2>; rel="last next"', 'https://x.example/2'],
  ['the second link', '<a>; rel="prev", <https://x.example/2>; rel="next"', 'https://x.example/2'],
  ['commas in the address', '<https://x.example/?a=1,2;b>; rel=next', 'https://x.example/?a=1,2;b'],
  [
    'commas, semicolons and quotes in a title',
    '<https://x.example/1>; title="a, <b>; rel=next \\" c"; rel=prev, <https://x.example/2>; rel="next"',
    'https://x.example/2',
  ],
  ['a relative address', '</v1/users?page=2>; rel=next', 'https://api.example/v1/users?page=2'],
  ['an address that is a query only', '<?page=2>; rel=next', 'https://api.example/v1/users?page=2'],
  ['the first rel of a link only', '<https://x.example/2>; rel=prev; rel=next', null],
  ['a relation that only starts with next', '<https://x.example/2>; rel="nextish"', null],
  ['other relations', '<https://x.example/2>; rel="last"', null],
  ['an invalid header', 'rel=next, <https://x.example/2; rel="next', null],
  ['an invalid address', '<http://[>; rel=next', null],
])('reads %s', (_what, link, expected) => {
  expect(nextLink(linked(link))).toBe(expected)
})

test('finds nothing without the header', () => {
  expect(nextLink(linked())).toBeNull()
})

test('finds another relation when asked', () => {
  expect(nextLink(linked('<https://x.example/9>; rel="last"'), 'last')).toBe('https://x.example/9')
})
