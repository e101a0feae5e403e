/**
 * Redirects for addresses of forms that are opened as pages. An error page leaves such an address in the
 * browser's address bar.
 */

const isAbove = (page: string, path: string): boolean => page === '/' || path.startsWith(`${page}/`)

/**
 * Returns the nearest page above the address of a form, with the ids of the requested address.
 *
 * @param pattern Pattern of the form, such as `/inbox/:id/comment`.
 * @param pages Patterns of the pages that are served to GET.
 * @param asked The requested path, which matches the pattern.
 * @returns `/` if there is no page above it
 */
export function pageAbove(pattern: string, pages: readonly string[], asked: string): string {
  const nearest = pages
    .filter((page) => isAbove(page, pattern))
    .reduce((longest, page) => (page.length > longest.length ? page : longest), '/')
  if (nearest === '/') return '/'
  return asked.split('/').slice(0, nearest.split('/').length).join('/')
}
