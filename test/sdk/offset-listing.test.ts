import { expect, test } from 'vitest'
import type { Json } from '../../runtime/contract/schema/json.ts'
import { allItems, offsetListing, type Paged } from '../../runtime/sdk/sdk.ts'

const people = Array.from({ length: 7 }, (_, index) => `p${index}`)

/** A system with seven people that returns three at once, and the requests that it received. */
function system(tells: { total?: boolean } = {}, first = 0) {
  const asked: { offset: number; limit: number }[] = []
  const read = async (at: { offset: number; limit: number }) => {
    asked.push(at)
    const start = at.offset - first
    const items = people.slice(start, start + Math.min(at.limit, 3))
    return tells.total ? { items, total: people.length } : items
  }
  return { asked, read }
}

const page = async (listing: ReturnType<typeof offsetListing>, cursor: Json, size: number | null) =>
  (await listing({ cursor, size })) as Paged<unknown[]>

test('reads up to the total, even when the system returns fewer than requested', async () => {
  const { asked, read } = system({ total: true })
  expect(await allItems(offsetListing(read))).toEqual(people)
  expect(asked).toEqual([0, 3, 6].map((offset) => ({ offset, limit: 100 })))
})

test('without a total, reads up to an empty page, since a short one may be the limit of the system', async () => {
  const { asked, read } = system()
  expect(await allItems(offsetListing(read))).toEqual(people)
  expect(asked.map(({ offset }) => offset)).toEqual([0, 3, 6, 7])
})

test('counts from 1 if the system does', async () => {
  const { asked, read } = system({ total: true }, 1)
  expect(await allItems(offsetListing(read, { first: 1 }))).toEqual(people)
  expect(asked.map(({ offset }) => offset)).toEqual([1, 4, 7])
})

test.each([
  [{}, null, 100],
  [{}, 20, 20],
  [{}, 1000, 100],
  [{ most: 50 }, null, 50],
  [{ most: 50 }, 60, 50],
  [{ most: 500 }, null, 100],
  [{ most: 500, size: 200 }, null, 200],
  [{ most: 500 }, 300, 300],
])('with %j and a page size of %j requests %i', async (options, size, limit) => {
  const { asked, read } = system({ total: true })
  await page(offsetListing(read, options), null, size)
  expect(asked).toEqual([{ offset: 0, limit }])
})

test('ends when the list has shrunk below the cursor', async () => {
  const listing = offsetListing(async () => ({ items: ['p0', 'p1'], total: 2 }))
  expect(await page(listing, 5, null)).toEqual({ __paged: true, response: [], cursor: null })
})

test('accepts an empty list', async () => {
  for (const answer of [[], { items: [], total: 0 }, { items: [], total: null }])
    expect(await allItems(offsetListing(() => answer))).toEqual([])
})

test('refuses an empty page before the total is reached, and an answer that is not a list', async () => {
  const promising = offsetListing(() => ({ items: [], total: 9 }))
  await expect(page(promising, 3, null)).rejects.toMatchObject({
    error_code: 'invalid_response',
    message: 'The system gave no items from number 3 on, although it claims 9',
  })
  for (const answer of [null, {}, { items: 'x' }, 'x'])
    await expect(
      page(
        offsetListing(() => answer as never),
        null,
        null,
      ),
    ).rejects.toMatchObject({
      error_code: 'invalid_response',
    })
  await expect(page(promising, 'x', null)).rejects.toMatchObject({
    error_code: 'invalid_page_token',
  })
})
