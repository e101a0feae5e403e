/** What is known of a value that was thrown: it may be anything. */

/** The code of an error of the system, of Node or of PostgreSQL, such as ENOENT; undefined if it has none. */
export const codeOf = (thrown: unknown): string | undefined =>
  typeof thrown === 'object' &&
  thrown !== null &&
  'code' in thrown &&
  typeof thrown.code === 'string'
    ? thrown.code
    : undefined

/** Its message. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)

/** The error itself; another value becomes the message of one. */
export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown))

/** For `catch`: the value in place of a file that is not there; every other error is thrown again. */
export const ifMissing =
  <T>(value: T) =>
  (thrown: unknown): T => {
    if (codeOf(thrown) === 'ENOENT') return value
    throw thrown
  }
