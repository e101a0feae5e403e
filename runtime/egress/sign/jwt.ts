/** JSON Web Tokens (RFC 7519), signed by jose. */

import { CompactSign } from 'jose'
import type { AuthCredential } from '../../contract/connector/authentication.ts'
import { JWT_ALGORITHMS } from '../../contract/connector/signing.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { algorithmOf, readKey } from './keys.ts'
import { SignError, type TextSigner } from './signer.ts'

/** Lifetime of a token if none is given, in seconds. */
const LIFETIME_SECONDS = 300

/** Key of a credential, and its initial headers and claims. */
type Material = { secret: string; headers: Json; claims: Json }
type Json = Record<string, unknown>

/** Implements `ctx.sign.jwt`. */
export const signJwt: TextSigner<'jwt'> = async (options, { credential, key, nowMs }) => {
  const material = key === null ? materialOf(credential) : { secret: key, headers: {}, claims: {} }
  const headers: Json = { ...material.headers, ...options.headers }
  const alg = options.alg ?? headers['alg']
  if (alg !== undefined && !isOneOf(JWT_ALGORITHMS, alg))
    throw new SignError(`alg is none of ${JWT_ALGORITHMS.join(', ')}`)
  const iat = Math.floor(nowMs / 1000)
  const claims = { iat, ...material.claims, ...options.claims }
  const exp = iat + (options.expires_in ?? LIFETIME_SECONDS)
  return signText(JSON.stringify({ exp, ...claims }), { ...headers, alg }, material.secret)
}

/** Returns a text signed as a JWS in compact form (RFC 7515). @throws SignError */
export async function signText(text: string, headers: Json, secret: string): Promise<string> {
  const { alg: named } = headers
  const key = readKey(secret, typeof named === 'string' ? named : null)
  const alg = typeof named === 'string' ? named : algorithmOf(key)
  const header = { ...headers, alg }
  const crit = Array.isArray(headers['crit']) ? headers['crit'] : []
  try {
    return await new CompactSign(Buffer.from(text))
      .setProtectedHeader(header)
      .sign(key, { crit: Object.fromEntries(crit.map((name) => [name, true])) })
  } catch (error) {
    throw new SignError(`the token cannot be signed: ${messageOf(error)}`)
  }
}

function materialOf({ jwt, key_pair, service_account }: AuthCredential): Material {
  if (jwt)
    return { secret: jwt.secret, headers: ofHeaders(jwt.headers), claims: ofClaims(jwt.claims) }
  if (key_pair) {
    const { key_identifier: kid, private_key: secret } = key_pair
    return { secret, headers: { typ: 'JWT', ...(kid === '' ? {} : { kid }) }, claims: {} }
  }
  return keyOf(service_account?.key ?? {})
}

/** Returns the key of a service account, given in the form of Google's key files. @throws SignError */
export function keyOf(key: Json): Material {
  const { private_key: secret, private_key_id: kid } = key
  if (typeof secret !== 'string' || secret === '')
    throw new SignError('the key of the service account has no private_key')
  return { secret, headers: { typ: 'JWT', ...(kid ? { kid } : {}) }, claims: {} }
}

/** Returns the members that are not empty. Callers send every member; an empty one is not set. */
const filled = (given: object): Json =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([, value]) =>
        value !== '' &&
        value !== 0 &&
        value !== null &&
        !(Array.isArray(value) && value.length === 0),
    ),
  )

/** Converts headers that callers send as text: `x5c` is a list and `jwk` an object (RFC 7515 section 4.1). */
function ofHeaders(given: object): Json {
  const { x5c, jwk, ...headers } = filled(given)
  return {
    ...headers,
    ...(x5c === undefined ? {} : { x5c: [x5c] }),
    ...(jwk === undefined ? {} : { jwk: parsed(jwk) }),
  }
}

/**
 * Converts claims: callers send `scope` as a list, it is one text separated by spaces (RFC 8693 section 4.2).
 */
function ofClaims(given: object): Json {
  const { scope, ...claims } = filled(given)
  return { ...claims, ...(Array.isArray(scope) ? { scope: scope.join(' ') } : {}) }
}

function parsed(jwk: unknown): unknown {
  try {
    return JSON.parse(String(jwk))
  } catch {
    throw new SignError('the header jwk of the credential is not JSON')
  }
}
