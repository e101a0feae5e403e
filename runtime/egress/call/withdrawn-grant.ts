/** Errors of requests whose grant the operator has withdrawn. */
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'

/** Codes of these errors. The last one means that the whole connector was removed. */
const TAKEN: readonly RuntimeCode[] = ['egress_undeclared', 'egress_private', 'connector_unknown']

/**
 * Reports whether an error may come from a withdrawn grant. Other calls, or later ones, may still have
 * theirs.
 */
export const mayBeWithdrawn = (error: unknown): boolean =>
  error instanceof RuntimeError && TAKEN.includes(error.code)
