/** Two calls that change one role at the same time. */
import type { Ctx } from './rows.ts'

/**
 * Codes of a statement that another session's was faster than: a serialization failure, a deadlock, and a name or a
 * membership that both wrote. Nothing of its transaction has happened.
 */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505'])

/** How often a change is tried. Of those that meet, one succeeds each time. */
const MOST_TRIES = 5

/** A change that begins again, reading first, where another session changed the same role meanwhile. */
export function retried<Request, Result>(
  change: (request: Request, ctx: Ctx) => Promise<Result>,
): (request: Request, ctx: Ctx) => Promise<Result> {
  return async (request, ctx) => {
    for (let tries = 1; ; tries++) {
      try {
        return await change(request, ctx)
      } catch (error) {
        if (tries === MOST_TRIES || !CONFLICTS.has(Object(error).app_error_code)) throw error
      }
    }
  }
}
