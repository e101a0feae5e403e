import type { ErrorCode } from '../contract/errors/error-codes.ts'
import { hasCode } from './connector-error.ts'

/**
 * Returns the result, or null if it fails with `not_found`, or with one of `codes` if any are given.
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
