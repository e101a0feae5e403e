/** What requests are refused with once the operator has taken back what they reach. */
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'

/** Their codes; the last one is of a connector that is gone whole. */
const TAKEN: readonly RuntimeCode[] = ['egress_undeclared', 'egress_private', 'connector_unknown']

/** Whether an error may be of something that was taken back: then another call, or a later one, may still have it. */
export const isTakenBack = (error: unknown): boolean =>
  error instanceof RuntimeError && TAKEN.includes(error.code)
