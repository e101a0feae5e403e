import type { ErrorCode } from '../contract/errors/error-codes.ts'
import { hasCode } from './connector-error.ts'

/**
 * The result, or null where the upstream has nothing there (`not_found`, or the codes that are named).
 *
 * @example
 * const user = await ifThere(api.get<User>(path`/users/${request.account_id}`))
 */
export async function ifThere<T>(
  result: Promise<T>,
  ...codes: readonly ErrorCode[]
): Promise<T | null> {
  try {
    return await result
  } catch (error) {
    if (hasCode(error, ...(codes.length === 0 ? (['not_found'] as const) : codes))) return null
    throw error
  }
}
