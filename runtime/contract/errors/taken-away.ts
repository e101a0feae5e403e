/** What ends a call that the operator took something away from while it ran. */
import { RuntimeError } from './errors.ts'
import { messageOf } from './thrown.ts'

/**
 * @param error What its next request would be refused with.
 * @param hasWritten Whether a request that may change something has left: then it must not be told as refused, since the
 *   system may have carried it out (core/kernel/faults.ts).
 */
export const takenAway = <E>(error: E, hasWritten: boolean): E | RuntimeError =>
  hasWritten
    ? new RuntimeError(
        'taken_away',
        `${messageOf(error)}; what had been sent to the system may have been done`,
        {},
        error,
      )
    : error
