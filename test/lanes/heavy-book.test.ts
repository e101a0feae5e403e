import { expect, test } from 'vitest'
import { createHeavyBook, HEAVY_LIMITS } from '../../runtime/lanes/heavy-book.ts'

const { firstMs, longestMs, forgetMs } = HEAVY_LIMITS

function bookAt() {
  const clock = { nowMs: 1000 }
  const book = createHeavyBook(() => clock.nowMs)
  /** Sets a mark and returns how long it lasts. */
  const mark = (capability: string | null = 'list_accounts') => {
    book.mark('acme', capability)
    const begunMs = clock.nowMs
    while (book.has('acme', 'list_accounts')) clock.nowMs += 1000
    return clock.nowMs - begunMs
  }
  return { book, clock, mark }
}

test('a mark covers one capability of one connector, and expires', () => {
  const { book, clock } = bookAt()
  book.mark('acme', 'list_accounts')
  expect(book.has('acme', 'list_accounts')).toBe(true)
  expect(book.has('acme', 'get_account')).toBe(false)
  expect(book.has('other', 'list_accounts')).toBe(false)
  clock.nowMs += firstMs
  expect(book.has('acme', 'list_accounts')).toBe(false)
})

test('a mark without a capability covers all capabilities of the connector', () => {
  const { book } = bookAt()
  book.mark('acme', null)
  expect(book.has('acme', 'get_account')).toBe(true)
  expect(book.has('other', 'get_account')).toBe(false)
})

test('each mark soon after the previous one lasts twice as long, up to a limit', () => {
  const { mark } = bookAt()
  expect([mark(), mark(), mark()]).toEqual([firstMs, 2 * firstMs, 4 * firstMs])
  for (let n = 0; n < 12; n += 1) mark()
  expect(mark()).toBe(longestMs)
})

test('the next mark is short again once forgetMs have passed', () => {
  const { clock, mark } = bookAt()
  mark()
  clock.nowMs += forgetMs
  expect(mark()).toBe(firstMs)
})
