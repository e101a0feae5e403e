/**
 * What was thrown below a call, for the log: engines and libraries quote what they were given, which may be
 * a secret, at any length.
 */

import { RuntimeError } from '../contract/errors/errors.ts'
import { codeOf } from '../contract/errors/thrown.ts'
import type { Redact } from '../redact/redact.ts'

/** Longest message and longest stack that are kept, in characters, and how many causes. */
const MAX_MESSAGE = 2000
const MAX_STACK = 8000
const MAX_CAUSES = 5

/** The same error, without secrets where an engine or a library speaks. The words of the call's own have none. */
export function withRedactedCause(error: unknown, redact: Redact): unknown {
  if (error instanceof RuntimeError) {
    const { code, message, details, cause } = error
    if (cause === undefined) return error
    return new RuntimeError(code, message, details, redactError(cause, redact))
  }
  // Others are told by their class further up: they keep it. The log takes the values out of questions of a
  // database, and needs them as they are for that.
  if (error instanceof Error && !('query' in error)) {
    const { message, stack } = redactError(error, redact)
    Object.assign(error, { message, stack })
  }
  return error
}

/** A copy without secrets, and short: name, message, stack, code and causes, nothing else. */
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
