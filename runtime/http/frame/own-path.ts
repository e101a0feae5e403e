/** Target of the redirect after sign-in: always a page of this host. */

/** First segments of the pages that a sign-in may lead to. */
const PLACES = ['access', 'inbox', 'console', 'settings']

/** Longest path that is kept, in characters. */
const MAX_PATH = 500

/**
 * Returns the path and query of a page of this host, or null for anything else. A text that a browser could
 * read as another host (`//host`, `/\host`) or as another page is refused.
 */
export function ownPath(given: string | undefined): string | null {
  if (given === '/') return given
  if (given === undefined || given.length > MAX_PATH) return null
  if (!/^\/[a-z-]+(?:[/?][\w\-./?=&%]*)?$/.test(given) || given.includes('//')) return null
  const url = URL.parse(given, 'http://keyway.invalid')
  const isOurs = url?.host === 'keyway.invalid' && PLACES.includes(url.pathname.split('/')[1] ?? '')
  return isOurs ? `${url.pathname}${url.search}` : null
}
