/** What every signer of the host is: keys in, signatures out; no network, no clock of its own. */
import type { AuthCredential } from '../../contract/connector/authentication.ts'
import type { SigningName, SigningOptions } from '../../contract/connector/signing.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import type { HeaderList } from '../exchange/headers.ts'

/** A request as it is sent, with its secrets. */
export type SignedRequest = Omit<OutgoingRequest, 'url'> & { url: URL }

/** What it signs with. */
export type SignMeans = {
  credential: AuthCredential
  /** The secret that was named in place of a credential. */
  key: string | null
  nowMs: number
  /** A text that no other signature has. */
  nonce: string
}

/** Makes a text of its own: a token, an assertion. Throws SignError. */
export type TextSigner<N extends SigningName> = (
  options: SigningOptions<N>,
  means: SignMeans,
) => Promise<string>

/** Signs a request; the headers to add, and the signature alone. Throws SignError. */
export type RequestSigner<N extends SigningName> = (
  options: SigningOptions<N>,
  request: SignedRequest,
  means: SignMeans,
) => { headers: HeaderList; signature: string }

/** Something is wrong with the key or with what is asked for; the message holds no secret. */
export class SignError extends Error {}
