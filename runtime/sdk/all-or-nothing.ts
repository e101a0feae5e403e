import type { ErrorCode } from '../contract/errors/error-codes.ts'
import { ConnectorError, type ConnectorErrorDetails } from './connector-error.ts'

/** Says how a step is undone that has just been done, and what would be left behind otherwise. */
export type Undo = (left: string, step: () => unknown) => void

/**
 * Does several steps, or none: when a later one fails, those that were done are undone, the last one
 * first, and the failure is thrown as it was. Say how a step is undone as soon as it is done.
 *
 * All are tried, also when one of them fails; the error then keeps its code and says at its end what was
 * left behind. Nothing is undone when the call's time is over: it is ended where it stands.
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

/** The failure as it was, with what stayed behind. */
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
