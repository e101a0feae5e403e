/** Reads thrown values, which may be of any type. */

/**
 * Returns the code of an error of the system, Node or PostgreSQL, such as ENOENT; undefined if it has none.
 */
export const codeOf = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' &&
  thrown !== null &&
  'code' in thrown &&
  typeof thrown.code === 'string'
    ? thrown.code
    : undefined

/** Returns the message of a thrown value. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)

/** Returns the error itself. Any other value becomes the message of a new error. */
export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown))

/** Returns `value` in place of a missing file and rethrows any other error. For `catch`. */
export const ifMissing =
  <T>(value: T) =>
  (thrown: unknown): T => {
    if (codeOf(thrown) === 'ENOENT') return value
    throw thrown
  }
