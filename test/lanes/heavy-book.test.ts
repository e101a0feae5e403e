import { expect, test } from 'vitest'
import { createHeavyBook, HEAVY_LIMITS } from '../../runtime/lanes/heavy-book.ts'

const { firstMs, longestMs, forgetMs } = HEAVY_LIMITS

function bookAt() {
  const clock = { nowMs: 1000 }
  const book = createHeavyBook(() => clock.nowMs)
  /** Marks, and answers for how long. */
  const mark = (capability: string | null = 'list_accounts') => {
    book.mark('acme', capability)
    const begunMs = clock.nowMs
    while (book.has('acme', 'list_accounts')) clock.nowMs += 1000
    return clock.nowMs - begunMs
  }
  return { book, clock, mark }
}

test('a mark is for one capability of one connector, and ends', () => {
  const { book, clock } = bookAt()
  book.mark('acme', 'list_accounts')
  expect(book.has('acme', 'list_accounts')).toBe(true)
  expect(book.has('acme', 'get_account')).toBe(false)
  expect(book.has('other', 'list_accounts')).toBe(false)
  clock.nowMs += firstMs
  expect(book.has('acme', 'list_accounts')).toBe(false)
})

test('a mark without a capability is for all of the connector', () => {
  const { book } = bookAt()
  book.mark('acme', null)
  expect(book.has('acme', 'get_account')).toBe(true)
  expect(book.has('other', 'get_account')).toBe(false)
})

test('each mark soon after the one before lasts twice as long, up to a bound', () => {
  const { mark } = bookAt()
  expect([mark(), mark(), mark()]).toEqual([firstMs, 2 * firstMs, 4 * firstMs])
  for (let n = 0; n < 12; n += 1) mark()
  expect(mark()).toBe(longestMs)
})

test('after some time in peace the next one is short again', () => {
  const { clock, mark } = bookAt()
  mark()
  clock.nowMs += forgetMs
  expect(mark()).toBe(firstMs)
})
