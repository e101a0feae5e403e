/**
 * The kinds of credentials (service.md section 2.4), and the nature of every field: secret (never readable in
 * the sandbox), clear, or identity (clear, and unchanged when the credential is rotated: part of the governor
 * key). All strings in a secret field are secret, except members that its metadata lists as `clearMembers`.
 * Everything inside a field that is not secret is clear.
 */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { allMaybe, maybe, object } from '../schema/schemas.ts'

type FieldNature = 'secret' | 'clear' | 'identity'

/** A string field of a credential. `fieldType` is the wire's `x-field_type`. */
const text = (title: string, nature: FieldNature, fieldType?: 'SECRET' | 'HIDDEN') =>
  v.pipe(
    v.string(),
    v.metadata({
      title,
      nature,
      ...(nature === 'secret' ? { secret: true, fieldType: fieldType ?? 'SECRET' } : {}),
    }),
  )

const scopes = v.pipe(v.array(v.string()), v.metadata({ title: 'Scopes', nature: 'clear' }))

const JwtHeaders = v.pipe(
  v.object({
    alg: v.string(),
    jku: v.string(),
    jwk: v.string(),
    typ: v.string(),
    kid: v.string(),
    x5u: v.string(),
    x5c: v.string(),
    x5t: v.string(),
    'x5t#S256': v.string(),
    cty: v.string(),
    crit: v.array(v.string()),
  }),
  v.metadata({ title: 'JWTHeaders', nature: 'clear' }),
)

const seconds = v.pipe(
  v.number(),
  v.safeInteger(),
  v.metadata({ description: 'Seconds since the Unix epoch' }),
)

const JwtClaims = v.pipe(
  v.object({
    iss: v.string(),
    sub: v.string(),
    aud: v.string(),
    jti: v.string(),
    act: v.string(),
    client_id: v.string(),
    may_act: v.string(),
    exp: seconds,
    nbf: seconds,
    iat: seconds,
    scope: v.array(v.string()),
  }),
  v.metadata({ title: 'JWTClaims', nature: 'clear' }),
)

/** Members of a service account's key that are not secret. Every other member is. */
export const CLEAR_KEY_MEMBERS = [
  'type',
  'project_id',
  'client_email',
  'client_id',
  'auth_uri',
  'token_uri',
  'auth_provider_x509_cert_url',
  'client_x509_cert_url',
  'universe_domain',
] as const

/** Maximum number of strings in a service account's key. Each is a secret that all output is searched for. */
const MAX_KEY_TEXTS = 64
const MAX_KEY_LENGTH = 65_536

function isKeySized(key: Record<string, unknown>): boolean {
  return JSON.stringify(key).length <= MAX_KEY_LENGTH && countTexts(key) <= MAX_KEY_TEXTS
}

function countTexts(value: unknown): number {
  if (typeof value === 'string') return 1
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, one) => sum + countTexts(one), 0)
}

/** Kind -> schema of its member in AuthCredential. */
export const AUTHENTICATION = {
  oauth: object('OAuthCredential', 'OAuth access token', {
    access_token: text('Access token', 'secret', 'HIDDEN'),
  }),
  oauth_client_credentials: object('OAuthClientCredential', 'OAuth client credentials', {
    access_token: text('Access token', 'secret', 'HIDDEN'),
    client_id: text('Client ID', 'identity'),
    client_secret: text('Client secret', 'secret'),
    scopes,
  }),
  oauth1: object('OAuth1Credential', 'OAuth 1.0a', {
    consumer_key: text('Consumer key', 'identity'),
    consumer_secret: text('Consumer secret', 'secret'),
    token_id: text('Token ID', 'identity'),
    token_secret: text('Token secret', 'secret'),
  }),
  basic: object('BasicCredential', 'User name and password', {
    username: text('Username', 'identity'),
    password: text('Password', 'secret'),
  }),
  token: object('TokenCredential', 'API token', { token: text('Token', 'secret') }),
  jwt: object('JWTCredential', 'Signed JSON Web Token', {
    headers: JwtHeaders,
    claims: JwtClaims,
    secret: text('Signing secret', 'secret'),
  }),
  service_account: object('ServiceAccountCredential', 'Service account', {
    key: v.pipe(
      v.record(v.string(), v.unknown()),
      v.check(isKeySized, `holds more than ${MAX_KEY_TEXTS} texts, or more than 64 KiB`),
      v.metadata({
        ...{ title: 'Key', nature: 'secret', secret: true, fieldType: 'SECRET' },
        clearMembers: CLEAR_KEY_MEMBERS,
      }),
    ),
    impersonation_email: text('Impersonated user', 'identity'),
    tenant_id: text('Tenant ID', 'identity'),
    scopes,
    service_type: v.pipe(
      v.nullish(v.picklist(['google_cloud', 'google_drive', 'aws']), 'google_cloud'),
      v.metadata({ title: 'Service', nature: 'clear' }),
    ),
  }),
  key_pair: object('KeyPairCredential', 'Key pair', {
    key_identifier: text('Key identifier', 'identity'),
    private_key: text('Private key', 'secret'),
  }),
} as const

/**
 * Optional additions to the `oauth` credential of a connected app, by which its access token is renewed
 * before it expires. They stay in the host and are never passed to a connector.
 */
export const RENEWAL = v.object({
  refresh_token: maybe(text('Refresh token, to renew the access token with', 'secret')),
  client_id: maybe(text('Client ID, to renew the access token with', 'clear')),
  client_secret: maybe(text('Client secret, to renew the access token with', 'secret')),
  scopes: maybe(scopes),
  expires_in: maybe(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(0),
      v.metadata({ title: 'Seconds until the access token ends', nature: 'clear' }),
    ),
  ),
})
/** Values that renew an access token. */
export type Renewal = v.InferOutput<typeof RENEWAL>

/** A kind of credentials, such as `token`. */
export type CredentialKind = keyof typeof AUTHENTICATION
export const CREDENTIAL_KINDS = keysOf(AUTHENTICATION)

/** One credential of one kind (service.md section 2.4); `id` is the manifest's credential id. */
export const AuthCredential = object('AuthCredential', {
  id: maybe(v.string()),
  ...allMaybe(AUTHENTICATION),
})
export type AuthCredential = v.InferOutput<typeof AuthCredential>

/** Returns a credential of one kind. The cast holds: `fields` were parsed by the schema of the kind. */
export const credentialOf = (kind: CredentialKind, fields: object): AuthCredential =>
  ({ [kind]: fields }) as unknown as AuthCredential
