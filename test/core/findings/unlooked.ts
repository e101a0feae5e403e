/** Findings of a test's own, which the next look would take for gone. */
import { alone } from '../../../runtime/database/alone.ts'
import type { Db } from '../../../runtime/database/database.ts'
import { until } from '../../e2e/until.ts'

/**
 * Does something while nobody looks for findings of an app, or of what is about none; waits for a look that is under way.
 *
 * @param look `app`, or `domain`, and its id
 */
export async function unlooked(
  db: Db,
  look: `${'app' | 'domain'} ${string}`,
  work: () => Promise<void>,
): Promise<void> {
  await until('nobody looks for findings', () => alone(db, `findings ${look}`, work))
}
