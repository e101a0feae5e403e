/** Assertions of Google service accounts, with impersonation. Source: RFC 7523 section 3. */
import { keyOf, signText } from './jwt.ts'
import { SignError, type TextSigner } from './signer.ts'

/** Maximum lifetime that Google accepts, in seconds. */
const LIFETIME_SECONDS = 3600

/** Implements `ctx.sign.serviceAccount`. */
export const signServiceAccount: TextSigner<'service_account'> = async (
  { scopes, subject },
  { credential, nowMs },
) => {
  const { key = {}, impersonation_email, scopes: own = [] } = credential.service_account ?? {}
  const { client_email: iss, token_uri: aud } = key
  if (typeof iss !== 'string' || typeof aud !== 'string')
    throw new SignError('the key of the service account has no client_email or no token_uri')
  const { secret, headers } = keyOf(key)
  const sub = subject ?? impersonation_email ?? ''
  const iat = Math.floor(nowMs / 1000)
  const claims = {
    iss,
    ...(sub === '' || sub === iss ? {} : { sub }),
    scope: (scopes ?? own).join(' '),
    aud,
    iat,
    exp: iat + LIFETIME_SECONDS,
  }
  return signText(JSON.stringify(claims), { ...headers, alg: 'RS256' }, secret)
}
