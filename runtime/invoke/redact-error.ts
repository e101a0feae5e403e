/**
 * Redacts errors thrown below a call, for the log. Engines and libraries quote their input, which may be a
 * secret, at any length.
 */

import { RuntimeError } from '../contract/errors/errors.ts'
import { codeOf } from '../contract/errors/thrown.ts'
import type { Redact } from '../redact/redact.ts'

/** Maximum length of a message and of a stack in characters, and maximum number of causes. */
const MAX_MESSAGE = 2000
const MAX_STACK = 8000
const MAX_CAUSES = 5

/**
 * Returns the same error, with secrets removed from messages of engines and libraries. Messages of the call
 * itself have none.
 */
export function withRedactedCause(error: unknown, redact: Redact): unknown {
  if (error instanceof RuntimeError) {
    const { code, message, details, cause } = error
    if (cause === undefined) return error
    return new RuntimeError(code, message, details, redactError(cause, redact))
  }
  // Errors of other classes keep their class, which callers check. The log removes the values from database
  // queries, and needs them unchanged for that.
  if (error instanceof Error && !('query' in error)) {
    const { message, stack } = redactError(error, redact)
    Object.assign(error, { message, stack })
  }
  return error
}

/** Returns a short copy without secrets: name, message, stack, code and causes, and nothing else. */
export function redactError(thrown: unknown, redact: Redact, depth = 1): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { name, message, stack = '', cause } = error
  const copy = new Error(redact(message).slice(0, MAX_MESSAGE))
  copy.name = redact(name).slice(0, 100)
  copy.stack = redact(stack).slice(0, MAX_STACK)
  const code = codeOf(error)
  if (code !== undefined) Object.assign(copy, { code: redact(code).slice(0, 100) })
  if (cause !== undefined && depth < MAX_CAUSES) copy.cause = redactError(cause, redact, depth + 1)
  return copy
}
