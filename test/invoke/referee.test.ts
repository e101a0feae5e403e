import { describe, expect, test } from 'vitest'
import type { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { advance, BEGUN, type Course } from '../../runtime/invoke/referee.ts'

/** Follows a connector's cursors. Returns the page at which the listing was stopped, and the error code. */
function follow(cursors: (page: number) => unknown, maxPages = 100_000) {
  let course: Course = BEGUN
  let asked = 'null'
  for (let page = 1; page <= 1_000; page += 1) {
    const ended = JSON.stringify(cursors(page))
    try {
      course = advance(course, asked, ended, maxPages)
    } catch (error) {
      return { page, code: (error as RuntimeError).code }
    }
    asked = ended
  }
  return { page: null, code: null }
}

describe('the referee stops', () => {
  test('a cursor that never changes', () => {
    expect(follow(() => 'a')).toEqual({ page: 2, code: 'paging_circles' })
  })

  test('a cursor that stops changing after 100 pages', () => {
    expect(follow((page) => Math.min(page, 100))).toEqual({ page: 101, code: 'paging_circles' })
  })

  test.each([2, 3, 5, 7, 16, 100, 333])(
    'a cycle of %i pages, with or without pages before it',
    (length) => {
      for (const before of [0, 1, 10]) {
        const { page, code } = follow((at) => (at <= before ? `b${at}` : (at - before) % length))
        expect(code).toBe('paging_circles')
        expect(page).toBeLessThanOrEqual(4 * (length + before))
      }
    },
  )

  test('a listing that reaches the maximum number of pages', () => {
    expect(follow((page) => page, 50)).toEqual({ page: 50, code: 'paging_endless' })
  })
})

test('a listing whose cursors are all different is not stopped', () => {
  expect(follow((page) => ({ after: page }))).toEqual({ page: null, code: null })
})

test('the state carried from page to page stays small', () => {
  let course = BEGUN
  for (let page = 1; page < 1000; page += 1)
    course = advance(course, `${page - 1}`, JSON.stringify('x'.repeat(page * 7)), 1_000_000)
  expect(JSON.stringify(course).length).toBeLessThan(60)
})
