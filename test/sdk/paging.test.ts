import { describe, expect, test } from 'vitest'
import type { Json } from '../../runtime/contract/schema/json.ts'
import {
  allItems,
  chain,
  cursorPage,
  eachPage,
  keyPage,
  keysCursor,
  type Listing,
  linkPage,
  numberCursor,
  offsetPage,
  type Paged,
  paged,
  textCursor,
} from '../../runtime/sdk/sdk.ts'
import { pageOf, reply } from './fake-context.ts'

test('marks a page with own data properties', () => {
  expect(Object.entries(paged([1], 'c'))).toEqual([
    ['__paged', true],
    ['response', [1]],
    ['cursor', 'c'],
  ])
})

test.each([[undefined], [null]])('treats the cursor %s as the last page', (cursor) => {
  expect(paged([], cursor).cursor).toBeNull()
})

test.each([
  ['abc', 'abc'],
  ['', null],
  [null, null],
  [undefined, null],
  [0, 0],
])('converts the cursor %j of an upstream to %j', (next, cursor) => {
  expect(cursorPage([1], next).cursor).toBe(cursor)
})

test.each([
  ['a page before the last one', [1, 2], { start: 0, total: 3 }, 2],
  ['the last page', [1, 2], { start: 0, total: 2 }, null],
  ['a page before the last one, counted from one', [1, 2], { start: 1, first: 1, total: 3 }, 3],
  ['the last page, counted from one', [3], { start: 3, first: 1, total: 3 }, null],
  ['a page with fewer items than requested', [1], { start: 4, total: 9, size: 3 }, 5],
  ['an empty page before the total is reached', [], { start: 4, total: 9 }, null],
  ['a full page without a total', [1, 2], { start: 0, size: 2 }, 2],
  ['a short page without a total', [1], { start: 2, size: 2 }, null],
  ['items without a total and a size', [1], { start: 2 }, 3],
  ['an empty page without a total and a size', [], { start: 2 }, null],
])('computes the next offset after %s', (_what, items, at, cursor) => {
  expect(offsetPage(items, at).cursor).toBe(cursor)
})

test('follows a link', () => {
  const answer = reply(200, '[]', { link: '</u?page=2>; rel="next"' })
  expect(linkPage(answer, ['a'])).toEqual(paged(['a'], 'https://api.example/u?page=2'))
  expect(linkPage(reply(200, '[]'), ['a']).cursor).toBeNull()
})

describe('a list that the system does not page', () => {
  const names = ['c', 'a', 'é', 'B', 'd', 'e\u0301', '', 'a/b?', '\u{1F407}', '"']
  const read = (at: Parameters<typeof keyPage>[0], items: string[], most?: number) =>
    keyPage(at, items, (name) => name, most)

  test.each([1, 2, 3, 9, 10, 11, null])(
    'is returned with each item once, in pages of %s',
    (size) => {
      const pages: string[][] = []
      let cursor: Json = null
      do {
        const page: Paged<string[]> = read({ cursor, size }, names.toReversed())
        pages.push(page.response)
        cursor = page.cursor
      } while (cursor !== null)
      expect(pages.flat()).toEqual(names.toSorted())
      expect(pages).toHaveLength(Math.ceil(names.length / (size ?? 1000)))
    },
  )

  test('continues after the last item when items are added and deleted', () => {
    const { response, cursor } = read({ cursor: null, size: 2 }, ['a', 'b', 'c', 'd'])
    expect(response).toEqual(['a', 'b'])
    expect(read({ cursor, size: 9 }, ['A', 'd', 'c', 'bb']).response).toEqual(['bb', 'c', 'd'])
  })

  test('is paged with ctx, in pages of its own size when none is requested', () => {
    expect(read(pageOf(), ['b', 'a', 'c'], 2)).toEqual(paged(['a', 'b'], 'b'))
    expect(read(pageOf('b'), ['b', 'a', 'c'], 2)).toEqual(paged(['c']))
    expect(read(pageOf('z'), ['b', 'a', 'c'])).toEqual(paged([]))
  })
})

test('reads cursors back, and refuses those of another type', () => {
  expect(textCursor(pageOf())).toBeUndefined()
  expect(textCursor(pageOf('a'))).toBe('a')
  expect(textCursor({ cursor: 'b' })).toBe('b')
  expect(numberCursor(pageOf(), 1)).toBe(1)
  expect(numberCursor({ cursor: 21 }, 1)).toBe(21)
  const wrong = expect.objectContaining({ error_code: 'invalid_page_token' })
  expect(() => textCursor(pageOf(1))).toThrow(wrong)
  expect(() => numberCursor(pageOf('1'), 1)).toThrow(wrong)
})

test('reads a cursor of several keys, each of its own type', () => {
  expect(keysCursor(pageOf(), ['0', 0])).toEqual(['0', 0])
  expect(keysCursor(pageOf(['7', 2]), ['0', 0])).toEqual(['7', 2])
  expect(keysCursor({ cursor: ['', 0] }, ['0', 9])).toEqual(['', 0])
  for (const cursor of [['7'], ['7', '2'], ['7', 2, 3], '7 2', 7, {}, [null, 2]])
    expect(() => keysCursor(pageOf(cursor), ['0', 0])).toThrow(
      expect.objectContaining({
        error_code: 'invalid_page_token',
        message: 'The cursor of the previous page is not a list of 2 keys',
      }),
    )
})

/** A listing of `count` names, of which the upstream returns at most `cap` at once. */
function listingOf(prefix: string, count: number, cap = 1000, fixed = false): Listing<string> {
  const all = Array.from({ length: count }, (_, i) => `${prefix}${i}`)
  return (at) => {
    const start = numberCursor(at, 0)
    const size = fixed ? cap : Math.min(at.size ?? cap, cap)
    return offsetPage(all.slice(start, start + size), { start, total: count })
  }
}

/** Follows a chain to its end as the runtime does: every cursor goes through JSON. */
async function follow(size: number | null, listings: Record<string, Listing<string>>) {
  const pages: string[][] = []
  let cursor = null
  do {
    const page: Paged<string[]> = await chain(pageOf(cursor, size), listings)
    pages.push(page.response)
    cursor = JSON.parse(JSON.stringify(page.cursor))
  } while (cursor !== null && pages.length < 100)
  return pages
}

const names = (...parts: [string, number][]) =>
  parts.flatMap(([prefix, count]) => Array.from({ length: count }, (_, i) => `${prefix}${i}`))

test.each([
  ['upstreams that return the requested size', 1000, false],
  ['upstreams that return less', 7, false],
  ['upstreams with fixed pages', 12, true],
  ['upstreams with fixed pages larger than ours', 50, true],
])('fills a page across the boundary of two listings: %s', async (_what, cap, fixed) => {
  const pages = await follow(20, {
    users: listingOf('u', 30, cap, fixed),
    licences: listingOf('l', 35, cap, fixed),
  })
  expect(pages.map((page) => page.length)).toEqual([20, 20, 20, 5])
  expect(pages.flat()).toEqual(names(['u', 30], ['l', 35]))
})

test.each([1, 3, 10, 64, 65, 100])('returns every item once in pages of %i', async (size) => {
  const pages = await follow(size, {
    users: listingOf('u', 30, 8),
    nobody: () => [],
    licences: listingOf('l', 35, 9, true),
  })
  expect(pages.flat()).toEqual(names(['u', 30], ['l', 35]))
  expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(size)
})

test('returns one upstream page per call when no size is requested', async () => {
  const pages = await follow(null, { users: listingOf('u', 3, 2), licences: () => ['l0'] })
  expect(pages).toEqual([['u0', 'u1'], ['u2'], ['l0']])
})

test('returns with a cursor when an upstream gives empty pages only', async () => {
  let reads = 0
  const empty: Listing<string> = () => paged([], ++reads)
  const page = await chain(pageOf(null, 10), { empty })
  expect(page).toEqual(paged([], { listing: 'empty', cursor: 50, skip: 0 }))
})

test.each([['x'], [{ listing: 'gone', cursor: null, skip: 0 }], [{ listing: 'users' }], [[]]])(
  'refuses the cursor %j',
  async (cursor) => {
    await expect(chain(pageOf(cursor), { users: () => [] })).rejects.toMatchObject({
      error_code: 'invalid_page_token',
    })
  },
)

test('reads a listing to its end', async () => {
  expect(await allItems(listingOf('u', 30, 7))).toEqual(names(['u', 30]))
  expect(await allItems(listingOf('u', 5), { size: 2 })).toEqual(names(['u', 5]))
})

test('stops reading when the loop over the pages is left', async () => {
  let reads = 0
  for await (const page of eachPage(() => paged([++reads], reads))) if (page[0] === 3) break
  expect(reads).toBe(3)
})

test.each<[string, Listing<number>]>([
  ['points at itself', () => paged([1], 'same')],
  ['never ends', ({ cursor }) => paged([1], Number(cursor) + 1)],
])('gives up on a listing that %s', async (_what, listing) => {
  await expect(allItems(listing, { maxPages: 10 })).rejects.toMatchObject({
    error_code: 'invalid_response',
  })
})
