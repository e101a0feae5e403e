/** Where a sign-in leads back to: a page of ours, never anywhere else. */

/** First names of the pages that people are led to. */
const PLACES = ['access', 'inbox', 'console', 'settings']

/** Longest path that is kept. */
const MAX_PATH = 500

/**
 * A path and query of a page of ours as a person sent it; null for anything else. What a browser could read as another
 * host (`//host`, `/\host`), or as another place, is none.
 */
export function ownPath(given: string | undefined): string | null {
  if (given === '/') return given
  if (given === undefined || given.length > MAX_PATH) return null
  if (!/^\/[a-z-]+(?:[/?][\w\-./?=&%]*)?$/.test(given) || given.includes('//')) return null
  const url = URL.parse(given, 'http://keyway.invalid')
  const isOurs = url?.host === 'keyway.invalid' && PLACES.includes(url.pathname.split('/')[1] ?? '')
  return isOurs ? `${url.pathname}${url.search}` : null
}
