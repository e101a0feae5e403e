/** What goes wrong around the core's functions, as a refusal of the core. */

import { ERRORS, type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError, type RefusalKind } from '../../contract/errors/problem.ts'
import { isAway } from '../../database/away.ts'
import { isContended, isTooSlow } from '../../database/contention.ts'
import { isDiskFull } from '../../database/full-disk.ts'
import { exhausted } from './exhausted.ts'

/** OUTAGES: what of the database is the reason -> what is said, and how soon to ask again, in seconds. */
export const OUTAGES = {
  away: {
    words: 'The database is away; try again. Where that lasts, GET /readyz says why',
    retryAfterSeconds: 2,
  },
  /** What reads goes on, so this comes only of what would change something. */
  full: {
    words:
      'The disk of Keyway is full, so this could not be saved; an administrator has to make room, then try again',
    retryAfterSeconds: 30,
  },
  /** Said to one of two changes that waited for each other. */
  contended: {
    words: 'Another change was in the way; nothing was done, try again',
    retryAfterSeconds: 1,
  },
  /** A question was ended because of the time it took. */
  too_slow: {
    words: 'The database took too long, so this was not done; try again',
    retryAfterSeconds: 10,
  },
  /** Nothing came for as long as a reader waits. */
  silent: { words: 'What this is read from says nothing; try again', retryAfterSeconds: 10 },
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

/** For which of them an error is there; else null. */
export function outageOf(thrown: unknown): Outage | null {
  if (thrown instanceof OutageError) return thrown.outage
  if (isDiskFull(thrown)) return 'full'
  if (isAway(thrown)) return 'away'
  if (isContended(thrown)) return 'contended'
  return isTooSlow(thrown) ? 'too_slow' : null
}

/** No database was reached yet, or a question found none. */
export const away = (cause?: unknown): CoreError => new OutageError('away', cause)

/** A reader has waited long enough. */
export const unanswered = (): CoreError => new OutageError('silent')

/** How soon to ask a host again that is stopping, or that the system gives no more. */
const HOST_RETRY_SECONDS = 5

/** What an error of the envelope is where there is none: a refusal, so that it does not look like a success. */
function refusalOutside(code: RuntimeCode): RefusalKind {
  const { refusal, blame, retryable } = ERRORS[code]
  if (refusal !== undefined) return refusal
  if (code === 'internal') return 'internal'
  return blame === 'operator' && retryable ? 'unavailable' : 'bad_request'
}

/** What is no CoreError: the database away, a body that could not be read, a defect of ours. */
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
  const words = `Something went wrong in Keyway itself; its log has more under ${requestId}`
  return new CoreError('internal', words, { cause: thrown })
}
