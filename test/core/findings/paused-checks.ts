/** For findings that a test creates itself, which the next check would resolve. */

import type { Db } from '../../../runtime/database/database.ts'
import { alone } from '../../../runtime/database/exclusive-work.ts'
import { until } from '../../e2e/until.ts'

/**
 * Runs `work` while no check for findings of an app, or of a domain, runs. Waits for a running check.
 *
 * @param look `app` or `domain`, and its id
 */
export async function withChecksPaused(
  db: Db,
  look: `${'app' | 'domain'} ${string}`,
  work: () => Promise<void>,
): Promise<void> {
  await until('no other process looks for findings', () => alone(db, `findings ${look}`, work))
}
