/** When a listing counts as endless. */
import { expect, test } from 'vitest'
import { countPage, endlessListingMessage } from '../../../runtime/core/sync/repeats.ts'

type Page = { written: number; repeated: number; pages?: number; isFirst?: boolean }

/** Walks pages of accounts; returns the page that ends the listing with the reason, or null. */
function walk(pages: Iterable<Page>, mostPercent = 90): { page: number; words: string } | null {
  const counts: Record<string, number> = {}
  let page = 0
  for (const { written, repeated, pages: together = 1, isFirst = page === 0 } of pages) {
    page += together
    const counted = countPage(counts, {
      ...{ phase: 'accounts', written, repeated, pages: together, isFirst, isLast: false },
    })
    for (const [name, count] of Object.entries({ accounts: written, ...counted }))
      counts[name] = (counts[name] ?? 0) + count
    const words = endlessListingMessage(counts, 'accounts', mostPercent)
    if (words !== null) return { page, words }
  }
  return null
}

const times = (count: number, page: Page): Page[] => Array.from({ length: count }, () => page)
const fresh = { written: 100, repeated: 0 }
const again = { written: 100, repeated: 100 }

test('any number of new rows is not endless', () => {
  expect(walk(times(20_000, fresh))).toBeNull()
})

test('100 accounts that are listed for ever are endless after 1,100 repeated rows', () => {
  expect(walk([fresh, ...times(100_000, again)])).toMatchObject({
    page: 12,
    words: expect.stringMatching(/of 1200 rows, 100 were new and 1100 had already been listed/),
  })
})

test('pages that list every row three times are not endless', () => {
  expect(walk(times(5000, { written: 300, repeated: 200 }))).toBeNull()
})

test('more than 1,000 empty pages are endless, but a few are not', () => {
  const empty = { written: 0, repeated: 0 }
  expect(walk(times(20, empty).concat(fresh, times(900, empty), fresh))).toBeNull()
  expect(walk(times(100_000, empty))).toMatchObject({ page: 1001 })
})

test('empty pages that arrive together count one by one', () => {
  expect(walk([fresh, ...times(1000, { written: 0, repeated: 0, pages: 10 })])).toMatchObject({
    page: 1011,
  })
})

test('more than 1,000 small pages without new rows are endless, even before rows repeat tenfold', () => {
  const known = { written: 1, repeated: 1 }
  expect(walk([...times(500, fresh), ...times(100_000, known)])).toMatchObject({
    page: 500 + 1001,
    words: expect.stringMatching(/last 1001 pages had nothing new/),
  })
})

test('rows that repeat because the listing restarted are not endless', () => {
  const small = { written: 1, repeated: 1 }
  const restart = [{ ...again, isFirst: true }, ...times(49_900, small)]
  expect(walk([...times(500, fresh), ...restart, ...times(20, fresh)])).toBeNull()
})

test('if 100 percent repeats are allowed, only 100,000 pages without new rows are endless', () => {
  expect(walk([fresh, ...times(99_000, again)], 100)).toBeNull()
  expect(walk([fresh, ...times(200_000, again)], 100)).toMatchObject({ page: 100_002 })
})
