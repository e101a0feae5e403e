import type { ErrorCode } from '../contract/errors/error-codes.ts'
import { ConnectorError, type ConnectorErrorDetails } from './connector-error.ts'

/** Registers how to undo the last step. `left` names the object that remains if undoing fails. */
export type Undo = (left: string, step: () => unknown) => void

/**
 * Runs several steps as a unit. If a step fails, the steps before it are undone in reverse order and the
 * error is rethrown. Register the undo of each step with `undo` as soon as the step is done.
 *
 * Every undo is tried, even if another one fails. The rethrown error keeps its code, and its message ends
 * with what was left behind. When the deadline of the call passes, the call is terminated and nothing is
 * undone.
 *
 * @example
 * return allOrNothing(async (undo) => {
 *   const user = await api.post<User>('/users', { mail: request.email })
 *   undo(`the user ${user.id}`, () => api.delete(path`/users/${user.id}`))
 *   for (const { id } of request.entitlements) await api.put(path`/users/${user.id}/roles/${id}`)
 *   return { status: 'ACTIVE', created: true, id: user.id }
 * })
 */
export async function allOrNothing<T>(act: (undo: Undo) => T | Promise<T>): Promise<T> {
  const done: { left: string; step: () => unknown }[] = []
  try {
    return await act((left, step) => done.push({ left, step }))
  } catch (error) {
    const failures: string[] = []
    for (const { left, step } of done.reverse()) {
      try {
        await step()
      } catch (failure) {
        failures.push(`${left} (${messageOf(failure)})`)
      }
    }
    if (failures.length === 0) throw error
    throw withLeft(error, failures)
  }
}

/** Returns the error with its code and details kept, and what was left behind added to its message. */
function withLeft(error: unknown, failures: readonly string[]): ConnectorError {
  const known: ConnectorErrorDetails & { error_code?: ErrorCode } = Object(error)
  return new ConnectorError(
    known.error_code ?? 'unexpected_error',
    `${messageOf(error)}; left behind: ${failures.join(', ')}`,
    {
      app_error_code: known.app_error_code,
      status_code: known.status_code,
      raised_by: known.raised_by,
      cause: error,
    },
  )
}

const messageOf = (error: unknown): string => String(Object(error).message ?? error)
