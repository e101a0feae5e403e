/** Errors of requests whose grant the operator has taken back. */
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'

/** Their codes; the last one means that the whole connector is gone. */
const TAKEN: readonly RuntimeCode[] = ['egress_undeclared', 'egress_private', 'connector_unknown']

/** Whether an error may come from a grant that was taken back; other calls, or later ones, may still have theirs. */
export const isTakenBack = (error: unknown): boolean =>
  error instanceof RuntimeError && TAKEN.includes(error.code)
