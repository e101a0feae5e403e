/** Where the address of a form leads when it is opened: an error page keeps it in the browser's address line. */

const isAbove = (page: string, path: string): boolean => page === '/' || path.startsWith(`${page}/`)

/**
 * The nearest page above the address of a form, as the address that was asked for has its ids.
 *
 * @param pattern Pattern of the form, as `/inbox/:id/comment`.
 * @param pages Patterns of the pages that are served to GET.
 * @param asked The path that was asked for; it fits the pattern.
 * @returns `/` where no page is above it
 */
export function pageAbove(pattern: string, pages: readonly string[], asked: string): string {
  const nearest = pages
    .filter((page) => isAbove(page, pattern))
    .reduce((longest, page) => (page.length > longest.length ? page : longest), '/')
  if (nearest === '/') return '/'
  return asked.split('/').slice(0, nearest.split('/').length).join('/')
}
