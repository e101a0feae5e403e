/** The URL where a person gives consent. */
import { calculatePKCECodeChallenge, generateRandomCodeVerifier } from 'oauth4webapi'

export type AuthorizationRequest = {
  client_id: string
  scopes: string[]
  redirect_uri: string
  state: string
}

type Endpoint = {
  /** URL with its settings filled in. It may have a query already. */
  authorizationUrl: string
  /** Scopes by capability, for a request without scopes. */
  declared: Record<string, string>
  pkce: boolean
}

/** Returns the URL, and the verifier that the caller passes back with the callback (RFC 7636). */
export async function authorizationUrl(
  { client_id, scopes, redirect_uri, state }: AuthorizationRequest,
  { authorizationUrl: address, declared, pkce }: Endpoint,
): Promise<{ authorization_url: string; code_verifier: string | null }> {
  const verifier = pkce ? generateRandomCodeVerifier() : null
  const query = new URLSearchParams([
    ['client_id', client_id],
    ['response_type', 'code'],
    ['scope', scopesOf(scopes, declared).join(' ')],
    ['redirect_uri', redirect_uri],
    ['state', state],
  ])
  if (verifier !== null) {
    query.set('code_challenge', await calculatePKCECodeChallenge(verifier))
    query.set('code_challenge_method', 'S256')
  }
  return { authorization_url: `${address}${joint(address)}${query}`, code_verifier: verifier }
}

/**
 * Returns the scopes of a request. If it has none: every declared scope once, in the order of the
 * declaration.
 */
export const scopesOf = (
  asked: readonly string[],
  declared: Readonly<Record<string, string>>,
): readonly string[] =>
  asked.length > 0
    ? asked
    : [
        ...new Set(
          Object.values(declared)
            .flatMap((text) => text.split(' '))
            .filter((scope) => scope !== ''),
        ),
      ]

function joint(address: string): string {
  if (!address.includes('?')) return '?'
  return /[?&]$/.test(address) ? '' : '&'
}
