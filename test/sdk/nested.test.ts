import { describe, expect, test } from 'vitest'
import type { Json } from '../../runtime/contract/schema/json.ts'
import { chain, type Listing, nested, paged } from '../../runtime/sdk/sdk.ts'
import { pageOf } from './fake-context.ts'

type Group = { name: string; members: number }

/** Pages of at most `most` items, or fewer if requested; calls `onRead` at each read. */
const cut =
  <T>(items: readonly T[], most: number, onRead = () => {}): Listing<T> =>
  ({ cursor, size }) => {
    onRead()
    const start = Number(cursor ?? 0)
    const end = start + Math.min(size ?? most, most)
    return paged(items.slice(start, end), end < items.length ? end : null)
  }

const membersOf = ({ name, members }: Group) =>
  Array.from({ length: members }, (_, index) => `${name}${index}`)

const GROUPS: Group[] = [
  { name: 'a', members: 5 },
  { name: 'b', members: 0 },
  { name: 'c', members: 1 },
  { name: 'd', members: 12 },
  { name: 'e', members: 0 },
]
const ALL = GROUPS.flatMap(membersOf)

/** Follows a listing to its end as the runtime does: every cursor goes through JSON. */
async function follow(listing: Listing<string>, size: number | null) {
  const pages: string[][] = []
  let cursor: Json = null
  do {
    const page = await chain(pageOf(cursor, size), { only: listing })
    pages.push(page.response)
    cursor = JSON.parse(JSON.stringify(page.cursor))
  } while (cursor !== null && pages.length < 200)
  return pages
}

describe('a nested listing', () => {
  test.each([1, 2, 3, 7, 100, null])(
    'returns each item once and in order, in pages of %s',
    async (size) => {
      for (const outerMost of [1, 2, 100])
        for (const [innerMost, carries] of [
          ...[1, 4, 100].map((most) => [most, false] as const),
          [4, true] as const,
        ]) {
          const listing = nested(
            cut(GROUPS, outerMost),
            (group) => cut(membersOf(group), innerMost),
            { carries },
          )
          const pages = await follow(listing, size)
          expect(pages.flat()).toEqual(ALL)
          if (size !== null)
            expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true)
        }
    },
  )

  test.each([
    ['of a few dozen items once', 40, 3],
    ['of more items than a cursor holds again for each page that begins within them', 120, 8],
  ])('reads pages %s, when the cursor may carry the rest of them', async (_what, most, read) => {
    let pages = 0
    const many = Array.from({ length: 120 }, (_, n) => ({
      name: `${n}-${'x'.repeat(30)}`,
      members: 7,
    }))
    const things = cut(many, most, () => {
      pages += 1
    })
    const listing = nested(things, (group) => cut(membersOf(group), 10), { carries: true })
    expect((await follow(listing, 50)).flat()).toEqual(many.flatMap(membersOf))
    expect(pages).toBe(read)
  })

  test('continues in the next page after 50 reads', async () => {
    let reads = 0
    const many = Array.from({ length: 120 }, (_, index) => ({ name: `g${index}`, members: 0 }))
    const listing = nested(cut(many, 1000), (group) =>
      cut(membersOf(group), 10, () => {
        reads += 1
      }),
    )
    const first = await listing({ cursor: null, size: 10 })
    expect(reads).toBe(50)
    expect(first).toMatchObject({ response: [], cursor: { index: 50 } })
  })

  test('may be nested again', async () => {
    const listing = nested(cut(['x', 'y'], 1), (outer) =>
      nested(cut(GROUPS, 2), (group) =>
        cut(
          membersOf(group).map((one) => outer + one),
          3,
        ),
      ),
    )
    expect((await follow(listing, 4)).flat()).toEqual(
      ['x', 'y'].flatMap((o) => ALL.map((m) => o + m)),
    )
  })

  test.each([['a text'], [7], [{}], [{ index: 'x' }], [{ index: 0, rest: '{' }]])(
    'refuses the cursor %j',
    async (cursor) => {
      const listing = nested(cut(GROUPS, 1), (group) => cut(membersOf(group), 1))
      await expect(listing({ cursor: cursor as Json, size: 1 })).rejects.toMatchObject({
        error_code: 'invalid_page_token',
      })
    },
  )
})
