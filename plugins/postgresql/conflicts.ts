/** Retries changes that conflict with a concurrent change of the same role. */
import type { Ctx } from './rows.ts'

/**
 * Error codes of a statement that lost to another session: a serialization failure, a deadlock, and a unique
 * violation if both wrote the same name or membership. Its transaction was rolled back.
 */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505'])

/** Maximum number of attempts. Of several conflicting changes, one succeeds each time. */
const MAX_ATTEMPTS = 5

/** Returns a change that starts over, from its first read, if another session changed the same role. */
export function withRetries<Request, Result>(
  change: (request: Request, ctx: Ctx) => Promise<Result>,
): (request: Request, ctx: Ctx) => Promise<Result> {
  return async (request, ctx) => {
    for (let tries = 1; ; tries++) {
      try {
        return await change(request, ctx)
      } catch (error) {
        if (tries === MAX_ATTEMPTS || !CONFLICTS.has(Object(error).app_error_code)) throw error
      }
    }
  }
}
