/** The one place where a request is given its secrets. */
import type { OutgoingRequest } from './exchange.ts'

/** Where a request goes, and which secrets its egress entry lets go there (`null`: all). */
export type SecretTarget = { origin: string; only: readonly string[] | null }

/** The secrets of one call: what stands behind a placeholder, if it may go there. */
export type SecretSource = {
  reveal(placeholder: string, target: SecretTarget): string | null
}

/**
 * The request with its placeholders replaced, in the places where that is allowed. Called afresh for
 * every hop, always with the placeholder form, after the hop has been judged.
 *
 * Today it returns the request as it is: secrets pass through the sandbox in the clear and there are no
 * placeholders yet. Whoever adds them changes this function and nothing else in this folder.
 */
export function substitute(
  request: OutgoingRequest,
  _target: SecretTarget,
  _secrets: SecretSource | null,
): OutgoingRequest {
  return request
}
