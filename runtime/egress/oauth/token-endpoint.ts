/**
 * Asks a token endpoint in the form that a connector declares, and reads its answer. The protocol itself is
 * oauth4webapi's. This module adds what providers do beyond it: JSON and query requests, tokens without a
 * type or with their own, errors with status 200.
 */

import type { OAuthDeclaration } from '../../contract/connector/manifest.ts'
import { upstreamMessage } from '../../contract/connector/upstream-status.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { isObject, membersOf } from '../../contract/schema/record.ts'
import type { FetchReply } from '../../protocol/lane-call.ts'
import { createRedact, redactValue } from '../../redact/redact.ts'
import { MAX_PARSED_BYTES } from '../limits/limits.ts'

/** A request through the egress of the connector. */
export type SendRequest = (request: {
  url: string
  method: string
  headers: [string, string][]
  body: Buffer | null
}) => Promise<FetchReply>

/** Request as the library prepared it. */
type Prepared = { body: URLSearchParams; headers: Record<string, string> }

/** Provider's own JSON, for raw_data. */
export type ProviderAnswer = Record<string, unknown>

type TokenEndpointDeps = {
  send: SendRequest
  /** Removes the call's secrets from a text. */
  redact(text: string): string
  /**
   * Called with the provider's JSON, without the pair of HTTP Basic, before it is reduced to the members that
   * the library judges.
   */
  onAnswer(given: ProviderAnswer): void
}

/**
 * Returns the `fetch` for the library.
 *
 * The function throws oauth_refused, oauth_garbled, and the errors of `send`.
 */
export function tokenFetch(
  declaration: Pick<OAuthDeclaration, 'request' | 'bearer_types'>,
  { send, redact, onAnswer }: TokenEndpointDeps,
): (url: string, prepared: Prepared) => Promise<Response> {
  const { request = { method: 'POST', data: 'FORMDATA' }, bearer_types = [] } = declaration
  return async (url, { body, headers }) => {
    const { address, type, bytes } = FORMS[request.data](url, body)
    const { 'content-type': _form, ...rest } = headers
    const reply = await send({
      url: address,
      method: request.method,
      headers: Object.entries(type === null ? rest : { ...rest, 'content-type': type }),
      body: bytes,
    })
    const pair = headers['authorization']?.replace(/^Basic /, '')
    // Before a message is cut: a part of a secret would not be found.
    const hidePair = createRedact(() => (pair ? [pair] : []))
    const hide = (text: string) => redact(hidePair(text))
    const given = read(reply, hide)
    // Here, because later only the parameters of the call are known, not their pair.
    onAnswer(membersOf(redactValue(given, hidePair)))
    return Response.json(judged(given, bearer_types))
  }
}

type Form = (
  url: string,
  body: URLSearchParams,
) => { address: string; type: string | null; bytes: Buffer | null }

/** Encodings of the parameters (connector-interface.md section 3.1, request_type). */
const FORMS: Record<'FORMDATA' | 'JSON' | 'QUERY', Form> = {
  FORMDATA: (url, body) => ({
    address: url,
    type: 'application/x-www-form-urlencoded',
    bytes: Buffer.from(body.toString()),
  }),
  JSON: (url, body) => ({
    address: url,
    type: 'application/json',
    bytes: Buffer.from(JSON.stringify(Object.fromEntries(body))),
  }),
  QUERY: (url, body) => ({
    address: `${url}${url.includes('?') ? '&' : '?'}${body}`,
    type: null,
    bytes: null,
  }),
}

function read(
  { status, url, headers, body }: FetchReply,
  hide: (text: string) => string,
): ProviderAnswer {
  const text = body.toString('utf8', 0, MAX_PARSED_BYTES)
  if (status >= 300) throw refused(status, url, hide(shown(text)))
  const given = body.length > MAX_PARSED_BYTES ? null : parse(text, headers)
  if (given === null)
    throw new RuntimeError(
      'oauth_garbled',
      `the token endpoint answered ${status} with something that is not JSON, or too large`,
    )
  // Some providers report errors with status 200.
  if (given['access_token'] === undefined && typeof given['error'] === 'string')
    throw refused(status, url, hide(shown(text)))
  return given
}

/** Returns the part of an answer that is searched for secrets: longer than a message repeats. */
const shown = (text: string): string => text.slice(0, 64 * 1024)

const refused = (status: number, url: string, text: string): RuntimeError =>
  new RuntimeError('oauth_refused', upstreamMessage(status, url, text))

function parse(text: string, headers: FetchReply['headers']): ProviderAnswer | null {
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  // The encoding of RFC 6749's drafts, which a few providers kept.
  if (/^application\/x-www-form-urlencoded/i.test(type))
    return Object.fromEntries(new URLSearchParams(text))
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    // The provider's answer is not JSON. The caller reports that.
    return null
  }
}

/**
 * Returns the members that the library judges. A missing token type counts as `bearer`, as do the types that
 * the connector declares. A null refresh token counts as absent. The other members are not part of the
 * protocol.
 */
function judged(
  { access_token, token_type, refresh_token }: ProviderAnswer,
  bearerTypes: readonly string[],
): ProviderAnswer {
  const isKnown = bearerTypes.some((one) => one.toLowerCase() === String(token_type).toLowerCase())
  return {
    access_token,
    token_type: isKnown ? 'bearer' : (token_type ?? 'bearer'),
    ...(refresh_token === null || refresh_token === '' ? {} : { refresh_token }),
  }
}
