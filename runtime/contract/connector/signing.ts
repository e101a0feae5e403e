/**
 * What the host signs for a connector, which never holds the key: `ctx.sign`. The helper gives a text that
 * says what is to be signed; egress signs when the request leaves.
 */
import * as v from 'valibot'
import type { Json } from '../schema/json.ts'
import type { CredentialKind } from './authentication.ts'

/** Which of the call's credentials, where there are several. */
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
  /** A secret of the call in place of a credential: `ctx.settings.private_key`. */
  key: v.optional(v.string()),
  alg: v.optional(v.picklist(JWT_ALGORITHMS)),
  /** Added to the headers and claims of the credential; these win. */
  headers: v.optional(free),
  claims: v.optional(free),
  /** Seconds until it expires, where no claim says when; 300 unless set. */
  expires_in: v.optional(seconds),
})

const ServiceAccountOptions = v.strictObject({
  credential,
  /** In place of those of the credential. */
  scopes: v.optional(v.array(v.string())),
  /** The user that it acts for, in place of the credential's `impersonation_email`; empty for itself. */
  subject: v.optional(v.string()),
})

const OAuth1Options = v.strictObject({
  credential,
  method: v.optional(v.picklist(['HMAC-SHA1', 'HMAC-SHA256'])),
  realm: v.optional(v.pipe(v.string(), v.maxLength(200))),
})

const AwsOptions = v.strictObject({ credential, service: word, region: word })

/**
 * SIGNING: what is asked for -> which credentials it takes, and whether it makes a text of its own (for a
 * header, a form, JSON) or signs the whole request (and is the Authorization header, nothing else).
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

export type SigningName = keyof typeof SIGNING
export type SigningOptions<N extends SigningName> = v.InferInput<(typeof SIGNING)[N]['options']>

/** `ctx.sign`: each gives a text for a request to a declared host, where the host puts the signature in. */
export type Signing = {
  /** A JSON Web Token, with the headers and claims of the jwt credential (or key pair) and one's own. */
  jwt(options?: SigningOptions<'jwt'>): string
  /** The assertion that Google's token endpoint takes (RFC 7523), impersonation included. */
  serviceAccount(options?: SigningOptions<'service_account'>): string
  /** The Authorization header of OAuth 1.0a (RFC 5849), over the request as it is sent. */
  oauth1(options?: SigningOptions<'oauth1'>): string
  /** The Authorization header of AWS (Signature Version 4), over the request as it is sent. */
  aws(options: SigningOptions<'aws'>): string
}
