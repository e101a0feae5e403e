/**
 * Signatures that the host makes for a connector, which never holds the key: `ctx.sign`. The helper returns a
 * text that describes what to sign. Egress signs when the request is sent.
 */
import * as v from 'valibot'
import type { Json } from '../schema/json.ts'
import type { CredentialKind } from './authentication.ts'

/** Id of the credential, if the call has several. */
const credential = v.optional(v.pipe(v.string(), v.maxLength(64)))
const seconds = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(86_400))
const word = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'is not a name'))
const free = v.custom<Record<string, Json>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
)

/** The algorithms of `ctx.sign.jwt`. */
export const JWT_ALGORITHMS = [
  ...(['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512'] as const),
  ...(['PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const),
] as const

const JwtOptions = v.strictObject({
  credential,
  /** A secret of the call, used instead of a credential: `ctx.settings.private_key`. */
  key: v.optional(v.string()),
  alg: v.optional(v.picklist(JWT_ALGORITHMS)),
  /** Added to the credential's headers and claims, and override them. */
  headers: v.optional(free),
  claims: v.optional(free),
  /** Seconds until expiry, unless a claim sets it; 300 by default. */
  expires_in: v.optional(seconds),
})

const ServiceAccountOptions = v.strictObject({
  credential,
  /** Replace the scopes of the credential. */
  scopes: v.optional(v.array(v.string())),
  /** User to act for, instead of the credential's `impersonation_email`; empty for the account itself. */
  subject: v.optional(v.string()),
})

const OAuth1Options = v.strictObject({
  credential,
  method: v.optional(v.picklist(['HMAC-SHA1', 'HMAC-SHA256'])),
  realm: v.optional(v.pipe(v.string(), v.maxLength(200))),
})

const AwsOptions = v.strictObject({ credential, service: word, region: word })

/**
 * Kind of signature -> accepted credentials, and whether the result is a text of its own (for a header, a
 * form, JSON) or a signature of the whole request (the Authorization header only).
 */
export const SIGNING = {
  jwt: { kinds: ['jwt', 'key_pair', 'service_account'], signs: 'text', options: JwtOptions },
  service_account: { kinds: ['service_account'], signs: 'text', options: ServiceAccountOptions },
  oauth1: { kinds: ['oauth1'], signs: 'request', options: OAuth1Options },
  aws: { kinds: ['service_account', 'key_pair'], signs: 'request', options: AwsOptions },
} as const satisfies Record<
  string,
  { kinds: readonly CredentialKind[]; signs: 'text' | 'request'; options: v.GenericSchema }
>

/** Name of a signer. */
export type SigningName = keyof typeof SIGNING
/** Options of a signer. */
export type SigningOptions<N extends SigningName> = v.InferInput<(typeof SIGNING)[N]['options']>

/**
 * `ctx.sign`. Each method returns a text for a request to a declared host, in which the host inserts the
 * signature.
 */
export type Signing = {
  /** Returns a JSON Web Token with the credential's (or key pair's) headers and claims, and further ones. */
  jwt(options?: SigningOptions<'jwt'>): string
  /** Returns the assertion for Google's token endpoint (RFC 7523), impersonation included. */
  serviceAccount(options?: SigningOptions<'service_account'>): string
  /** Returns the Authorization header of OAuth 1.0a (RFC 5849), over the request as it is sent. */
  oauth1(options?: SigningOptions<'oauth1'>): string
  /** Returns the Authorization header of AWS (Signature Version 4), over the request as it is sent. */
  aws(options: SigningOptions<'aws'>): string
}
