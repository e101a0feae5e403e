/** What goes wrong around the core's functions, as a refusal of the core. */

import { ERRORS, RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { isAway } from '../../database/away.ts'
import { isContended, isTooSlow } from '../../database/contention.ts'
import { isDiskFull } from '../../database/full-disk.ts'

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

/** What is no CoreError: the database away, a body that could not be read, a defect of ours. */
export function toCoreError(thrown: unknown, requestId: string): CoreError {
  if (thrown instanceof CoreError) return thrown
  const outage = outageOf(thrown)
  if (outage) {
    const { words, retryAfterSeconds } = outage
    return new CoreError('unavailable', words, { retryAfterSeconds, cause: thrown })
  }
  if (thrown instanceof RuntimeError) {
    // What the envelope tells has no refusal of its own; here it must not look like a success.
    const { refusal = thrown.code === 'internal' ? 'internal' : 'bad_request' } =
      ERRORS[thrown.code]
    return new CoreError(refusal, thrown.message, { cause: thrown })
  }
  const words = `Something went wrong in Keyway itself; its log has more under ${requestId}`
  return new CoreError('internal', words, { cause: thrown })
}
