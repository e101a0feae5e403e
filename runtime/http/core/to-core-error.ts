/** What goes wrong around the core's functions, in the words and statuses of the core interface. */
import { CoreError, type CoreStatus } from '../../contract/endpoints/problem.ts'
import { ERRORS, RuntimeError } from '../../contract/errors.ts'
import { isAway } from '../../database/database.ts'

/** How soon to ask again while the database is away, in seconds. */
const RETRY_AFTER_SECONDS = 2

export const away = (cause?: unknown): CoreError =>
  new CoreError(
    503,
    'The database is away; try again',
    { 'retry-after': String(RETRY_AFTER_SECONDS) },
    cause,
  )

/** What is no CoreError: the database away, a body that could not be read, a defect of ours. */
export function toCoreError(thrown: unknown, requestId: string): CoreError {
  if (thrown instanceof CoreError) return thrown
  if (isAway(thrown)) return away(thrown)
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
