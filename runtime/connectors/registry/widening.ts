/** Describes what a new manifest may reach that the old one could not. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import type { WantKind } from '../../contract/endpoints/generation.ts'
import { uncovered, wantsOf } from './requested-grant.ts'

/**
 * Wants that an edit of a dropped-in folder may not gain by itself. Without them the others have no effect.
 */
const REACH: readonly WantKind[] = ['egress', 'login', 'clear_secret']

/**
 * Returns every method and address of `next` that `before` does not have for the same capability with the
 * same bounds on its settings and for no more secrets, and every secret that becomes readable. A new
 * capability counts with all that it may reach.
 */
export function widening(before: Manifest, next: Manifest): string[] {
  const more = uncovered(wantsOf(next), wantsOf(before))
  return [...new Set(more.filter(({ kind }) => REACH.includes(kind)).map(({ words }) => words))]
}
