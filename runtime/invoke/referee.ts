/**
 * Paging referee. A connector that returns to an earlier cursor, or never ends, would occupy a caller
 * forever. The only state between pages is in the token: a count, and one past cursor (R. Brent, "An improved
 * Monte Carlo factorization algorithm", 1980: the remembered position moves at powers of two, so that a cycle
 * of any length is found).
 */
import { hash } from 'node:crypto'
import { RuntimeError } from '../contract/errors/errors.ts'

/** State of a sequence: number of pages, and the digest of a cursor that ended one of them. */
export type Course = { pages: number; mark: string }

/** State before the first page. */
export const BEGUN: Course = { pages: 0, mark: '' }

const digestOf = (cursorJson: string): string =>
  hash('sha256', cursorJson, 'base64url').slice(0, 22)

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0

/**
 * Returns the state after a page that was requested with one cursor and ended with another.
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
