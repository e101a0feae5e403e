/** One page of a list, in the form of service.md section 8.2 (with `pages`, which clients need). */

export type Page<T> = { items: T[]; total: number; page: number; size: number; pages: number }

export type PageQuery = { page: number; size: number }

/** Puts a page around what was found; a page past the end is empty, with the true total. */
export function pageOf<T>(items: T[], total: number, { page, size }: PageQuery): Page<T> {
  return { items, total, page, size, pages: Math.ceil(total / size) }
}

/** Where a page begins. */
export const offsetOf = ({ page, size }: PageQuery): number => (page - 1) * size

/** An id as the database knows ids. Anything else names nothing, and must not reach a uuid column. */
export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** A pattern that finds a part of a text, whatever signs are in it. */
export const containing = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
