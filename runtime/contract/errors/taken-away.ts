/** The error of a call from which the operator took something away while it ran. */
import { RuntimeError } from './errors.ts'
import { messageOf } from './thrown.ts'

/**
 * @param error The error that its next request would get.
 * @param hasWritten Whether a request that may change something was sent. Then the call must not say that it was refused,
 *   since the system may have carried it out (core/kernel/faults.ts).
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
