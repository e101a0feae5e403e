/** What goes wrong around the core's functions, in the words and statuses of the core interface. */
import { CoreError, type CoreStatus } from '../../contract/endpoints/problem.ts'
import { ERRORS, RuntimeError } from '../../contract/errors.ts'
import { isAway, isContended } from '../../database/database.ts'

/** What is said while the database is away, and how soon to ask again, in seconds. */
export const AWAY = { words: 'The database is away; try again', retryAfterSeconds: 2 } as const

/** What is said to one of two changes that waited for each other. */
const CONTENDED = 'Another change was in the way; nothing was done, try again'

export const away = (cause?: unknown): CoreError =>
  new CoreError(503, AWAY.words, { 'retry-after': String(AWAY.retryAfterSeconds) }, cause)

/** What is no CoreError: the database away, a body that could not be read, a defect of ours. */
export function toCoreError(thrown: unknown, requestId: string): CoreError {
  if (thrown instanceof CoreError) return thrown
  if (isAway(thrown)) return away(thrown)
  if (isContended(thrown)) return new CoreError(503, CONTENDED, { 'retry-after': '1' }, thrown)
  if (thrown instanceof RuntimeError) {
    const { status = 400 } = ERRORS[thrown.code]
    return new CoreError(status as CoreStatus, thrown.message, {}, thrown)
  }
  return new CoreError(
    500,
    `Something went wrong in Keyway itself; its log has more under ${requestId}`,
    {},
    thrown,
  )
}
