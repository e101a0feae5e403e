/** Types of the host's signers. A signer gets keys and returns signatures. It has no network and no clock. */
import type { AuthCredential } from '../../contract/connector/authentication.ts'
import type { SigningName, SigningOptions } from '../../contract/connector/signing.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import type { HeaderList } from '../exchange/headers.ts'

/** Request as it is sent, with its secrets. */
export type SignedRequest = Omit<OutgoingRequest, 'url'> & { url: URL }

/** Key material and parameters of a signature. */
export type SigningDeps = {
  credential: AuthCredential
  /** Secret that was named in place of a credential. */
  key: string | null
  nowMs: number
  /** Text that no other signature has. */
  nonce: string
}

/** Returns a signed text: a token, an assertion. Throws SignError. */
export type TextSigner<N extends SigningName> = (
  options: SigningOptions<N>,
  deps: SigningDeps,
) => Promise<string>

/** Signs a request. Returns the headers to add, and the signature alone. Throws SignError. */
export type RequestSigner<N extends SigningName> = (
  options: SigningOptions<N>,
  request: SignedRequest,
  deps: SigningDeps,
) => { headers: HeaderList; signature: string }

/** A fault of the key or of the signing options. The message contains no secret. */
export class SignError extends Error {}
