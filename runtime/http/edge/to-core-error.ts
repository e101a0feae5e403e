/** Converts errors around the core's functions to refusals of the core. */

import { ERRORS, type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError, type RefusalKind } from '../../contract/errors/problem.ts'
import { isContended, isTooSlow } from '../../database/contention.ts'
import { isDiskFull } from '../../database/full-disk.ts'
import { isDatabaseUnavailable } from '../../database/unavailable.ts'
import { exhausted } from './exhausted-resources.ts'

/** OUTAGES: reason of an outage -> message, and time until a retry in seconds. */
export const OUTAGES = {
  away: {
    words: 'The database is unavailable; try again. If this persists, GET /readyz shows why',
    retryAfterSeconds: 2,
  },
  /** Reads still work, so only changes report this. */
  full: {
    words:
      'The disk of Keyway is full, so this could not be saved; ask an administrator to free space, then try again',
    retryAfterSeconds: 30,
  },
  /** Reported to one of two changes that waited for each other. */
  contended: {
    words: 'Another change got in the way; nothing was done, try again',
    retryAfterSeconds: 1,
  },
  /** The query exceeded its time limit. */
  too_slow: {
    words: 'The database took too long, so this was not done; try again',
    retryAfterSeconds: 10,
  },
  /** Nothing arrived within the time that a reader waits. */
  silent: { words: 'The source of this data does not respond; try again', retryAfterSeconds: 10 },
} as const

type Outage = keyof typeof OUTAGES

class OutageError extends CoreError {
  readonly outage: Outage

  constructor(outage: Outage, cause?: unknown) {
    const { words, retryAfterSeconds } = OUTAGES[outage]
    super('unavailable', words, { retryAfterSeconds, cause })
    this.outage = outage
  }
}

/** Returns the outage that caused an error, or null. */
export function outageOf(thrown: unknown): Outage | null {
  if (thrown instanceof OutageError) return thrown.outage
  if (isDiskFull(thrown)) return 'full'
  if (isDatabaseUnavailable(thrown)) return 'away'
  if (isContended(thrown)) return 'contended'
  return isTooSlow(thrown) ? 'too_slow' : null
}

/** Creates the error for a database that has not been reached or was lost. */
export const away = (cause?: unknown): CoreError => new OutageError('away', cause)

/** Creates the error for a read that exceeded its time limit. */
export const unanswered = (): CoreError => new OutageError('silent')

/** Retry delay, in seconds, for a host that is stopping or out of a resource of the system. */
const HOST_RETRY_SECONDS = 5

/**
 * Returns the refusal for an error of the envelope in an interface without one. It must not look like a
 * success.
 */
function refusalOutside(code: RuntimeCode): RefusalKind {
  const { refusal, blame, retryable } = ERRORS[code]
  if (refusal !== undefined) return refusal
  if (code === 'internal') return 'internal'
  return blame === 'operator' && retryable ? 'unavailable' : 'bad_request'
}

/**
 * Converts any error to a CoreError: an unavailable database, a body that could not be read, a defect of
 * Keyway.
 */
export function toCoreError(thrown: unknown, requestId: string): CoreError {
  if (thrown instanceof CoreError) return thrown
  const outage = outageOf(thrown)
  if (outage !== null) {
    const { words, retryAfterSeconds } = OUTAGES[outage]
    return new CoreError('unavailable', words, { retryAfterSeconds, cause: thrown })
  }
  const error = thrown instanceof RuntimeError ? thrown : exhausted(thrown)
  if (error !== null) {
    const kind = refusalOutside(error.code)
    return kind === 'unavailable'
      ? new CoreError(kind, error.message, { cause: error, retryAfterSeconds: HOST_RETRY_SECONDS })
      : new CoreError(kind, error.message, { cause: error })
  }
  const words = `Something went wrong in Keyway itself; see ${requestId} in its log`
  return new CoreError('internal', words, { cause: thrown })
}
