/**
 * The paging referee: a connector that comes back to a cursor, or never ends, would keep a caller busy for
 * ever. Nothing is kept between pages but what the token carries: a count, and one cursor of the past
 * (R. Brent, "An improved Monte Carlo factorization algorithm", 1980: the remembered place moves on at
 * powers of two, so that a circle of any length is met).
 */
import { hash } from 'node:crypto'
import { RuntimeError } from '../contract/errors/errors.ts'

/** What is known of a sequence: pages so far, and the digest of a cursor that one of them ended with. */
export type Course = { pages: number; mark: string }

/** Before the first page. */
export const BEGUN: Course = { pages: 0, mark: '' }

const digestOf = (cursorJson: string): string =>
  hash('sha256', cursorJson, 'base64url').slice(0, 22)

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0

/**
 * The course after a page that was asked for with one cursor and ended with another.
 *
 * @throws paging_circles, paging_endless
 */
export function advance(
  { pages, mark }: Course,
  asked: string,
  ended: string,
  maxPages: number,
): Course {
  const digest = digestOf(ended)
  const count = pages + 1
  if (ended === asked || digest === mark)
    throw new RuntimeError(
      'paging_circles',
      `page ${count} ends with a cursor that there was before: the listing would never end`,
    )
  if (count >= maxPages)
    throw new RuntimeError(
      'paging_endless',
      `the listing goes on after ${count} pages; ask for larger ones, or raise KEYWAY_MAX_PAGES`,
    )
  return { pages: count, mark: isPowerOfTwo(count) ? digest : mark }
}
