/** The error of a running call whose connector, capability or grant the operator removed. */
import { RuntimeError } from './errors.ts'
import { messageOf } from './thrown.ts'

/**
 * Returns the error to report.
 *
 * @param error The error that the call's next request would get.
 * @param hasWritten Whether a request that may change something was sent. The call must then not report a
 * refusal, because the system may have carried it out (core/kernel/faults.ts).
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
