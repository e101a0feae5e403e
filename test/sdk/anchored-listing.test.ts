import { expect, test } from 'vitest'
import type { Json } from '../../runtime/contract/schema/json.ts'
import { allItems, anchoredListing, type Paged } from '../../runtime/sdk/sdk.ts'

type One = { id: number }
const people = (count: number): One[] => Array.from({ length: count }, (_, at) => ({ id: at + 1 }))

/** A system whose people may change between two pages, and the requests that it received. */
function system(list: One[], { total = true, most = 100 } = {}) {
  const asked: { offset: number; limit: number }[] = []
  const read = (at: { offset: number; limit: number }) => {
    asked.push(at)
    const items = list.slice(at.offset, at.offset + Math.min(at.limit, most))
    return total ? { items, total: list.length } : items
  }
  return { asked, listing: anchoredListing(read, ({ id }) => id, { most }) }
}

/** Reads all pages, and calls `meanwhile` after each. */
async function all(
  listing: ReturnType<typeof system>['listing'],
  size: number,
  meanwhile: (page: number) => void = () => undefined,
) {
  const ids: number[] = []
  let cursor: Json = null
  for (let page = 0; page < 1000; page++) {
    const { response, cursor: next } = (await listing({ cursor, size })) as Paged<One[]>
    ids.push(...response.map(({ id }) => id))
    if (next === null) return ids
    cursor = next
    meanwhile(page)
  }
  throw new Error('more than 1000 pages')
}

const upTo = (count: number) => people(count).map(({ id }) => id)

test.each([
  { total: true, size: 1 },
  { total: true, size: 3 },
  { total: false, size: 3 },
  { total: true, size: 1000 },
  { total: false, size: 7 },
])('reads every item once with %j', async ({ total, size }) => {
  expect(await all(system(people(7), { total }).listing, size)).toEqual(upTo(7))
  expect(await all(system([], { total }).listing, size)).toEqual([])
  expect(await all(system(people(7), { total, most: 2 }).listing, size)).toEqual(upTo(7))
})

test('requests no more than the system returns at once, with an overlap of one item', async () => {
  const { asked, listing } = system(people(7), { most: 3 })
  expect(await allItems(listing)).toEqual(people(7))
  expect(asked).toEqual([0, 2, 4].map((offset) => ({ offset, limit: 3 })))
})

test.each([true, false])(
  'misses no remaining item when others are deleted (with a total: %s)',
  async (total) => {
    for (const gone of [[0], [0, 1, 2, 3], [3], [9, 1], upTo(10).map((id) => id - 1)]) {
      const list = people(40)
      const { listing } = system(list, { total })
      const ids = await all(listing, 10, (page) => {
        if (page === 0) for (const at of gone.toSorted((a, b) => b - a)) list.splice(at, 1)
      })
      expect(ids).toEqual(upTo(40))
    }
  },
)

test('continues when most of the items that were read are gone', async () => {
  const list = people(400)
  const { asked, listing } = system(list)
  const ids = await all(listing, 10, (page) => {
    if (page === 29) list.splice(0, 295)
  })
  expect(ids).toEqual(upTo(400))
  expect(asked.length).toBeLessThan(60)
})

test('items created during the listing come last, once', async () => {
  const list = people(20)
  const { listing } = system(list)
  const ids = await all(listing, 7, (page) => {
    if (page < 2) list.push({ id: 100 + page })
  })
  expect(ids).toEqual([...upTo(20), 100, 101])
})

test('refuses pages that are out of order, unexpectedly empty, or not a list', async () => {
  const at = { cursor: null, size: null }
  const idOf = ({ id }: One) => id
  for (const answer of [
    [{ id: 2 }, { id: 1 }],
    [{ id: 2 }, { id: 2 }],
    { items: [], total: 3 },
    null,
    { items: 'x' },
  ])
    await expect(anchoredListing(() => answer as never, idOf)(at)).rejects.toMatchObject({
      error_code: 'invalid_response',
    })
})

test('refuses a cursor that is not its own', async () => {
  for (const cursor of ['x', 3, {}, { offset: 0, after: 1 }, { offset: 1, after: 'x' }])
    await expect(system(people(3)).listing({ cursor, size: null })).rejects.toMatchObject({
      error_code: 'invalid_page_token',
    })
})
