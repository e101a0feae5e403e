/** What goes wrong around the core's functions, as a refusal of the core. */

import { ERRORS, type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError, type RefusalKind } from '../../contract/errors/problem.ts'
import { isAway } from '../../database/away.ts'
import { isContended, isTooSlow } from '../../database/contention.ts'
import { isDiskFull } from '../../database/full-disk.ts'
import { exhausted } from './exhausted.ts'

/** What is said while the database is away, and how soon to ask again, in seconds. */
export const AWAY = { words: 'The database is away; try again', retryAfterSeconds: 2 } as const

/** What is said while a disk is full: what reads goes on, so this comes only of what would change something. */
const FULL = {
  words:
    'The disk of Keyway is full, so this could not be saved; an administrator has to make room, then try again',
  retryAfterSeconds: 30,
} as const

/** What is said to one of two changes that waited for each other. */
const CONTENDED = {
  words: 'Another change was in the way; nothing was done, try again',
  retryAfterSeconds: 1,
} as const

/** What is said where a question was ended because of the time it took. */
const TOO_SLOW = {
  words: 'The database took too long, so this was not done; try again',
  retryAfterSeconds: 10,
} as const

/** What is said of an error for which the database or its disk is the reason, and how soon to ask again; else null. */
export function outageOf(thrown: unknown): { words: string; retryAfterSeconds: number } | null {
  if (isDiskFull(thrown)) return FULL
  if (isAway(thrown)) return AWAY
  if (isContended(thrown)) return CONTENDED
  return isTooSlow(thrown) ? TOO_SLOW : null
}

export const away = (cause?: unknown): CoreError =>
  new CoreError('unavailable', AWAY.words, { retryAfterSeconds: AWAY.retryAfterSeconds, cause })

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
  if (outage) {
    const { words, retryAfterSeconds } = outage
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
