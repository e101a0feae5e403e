/** What a new manifest may reach that the old one could not, as text. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import type { WantKind } from '../../contract/endpoints/generation.ts'
import { uncovered, wantsOf } from './requested-grant.ts'

/** What an edit of a dropped-in folder may not gain by itself: the rest leads nowhere without these. */
const REACH: readonly WantKind[] = ['egress', 'login', 'clear_secret']

/**
 * Every method and address of `next` that `before` does not have for the same capability, with the same
 * bounds on the settings in it and for no more secrets; and every secret that is to be readable. A
 * capability that is new counts with all that it may reach.
 */
export function widening(before: Manifest, next: Manifest): string[] {
  const more = uncovered(wantsOf(next), wantsOf(before))
  return [...new Set(more.filter(({ kind }) => REACH.includes(kind)).map(({ words }) => words))]
}
