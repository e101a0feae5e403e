/**
 * Determines which values of a call are secret, from the contract and the manifest; there is no other
 * definition. In the sandbox each is a placeholder. The values stay in the host.
 */

import { isRecord, membersOf } from '../schema/record.ts'
import { type AnySchema, metadataOf, shapeOf, wrappedIn } from '../schema/shape.ts'
import {
  AUTHENTICATION,
  type AuthCredential,
  CREDENTIAL_KINDS,
  type CredentialKind,
} from './authentication.ts'
import type { IsQuiet } from './payload.ts'
import { createCallMark, type Marks, secretPlaceholder } from './placeholder.ts'

/** The parts of a call that may hold secrets. */
export type SecretParts = {
  auth: AuthCredential | null
  credentials: Record<string, AuthCredential> | null
  settings: Record<string, unknown>
  request: unknown
}

/** Schemas that mark secret settings and secret fields of a request. Made once per version. */
export type Schemas = { settings: AnySchema; request: AnySchema }

/** One secret of a call. */
type HeldSecret = {
  placeholder: string
  value: string
  /**
   * Owner of the secret, as an egress entry's `secrets` names it: `auth`, a credential id, `settings.x`,
   * `request`.
   */
  owner: string
}

/** The secrets of one call, and the parts that the sandbox gets in their place. */
type SealedCall = {
  marks: Marks
  /** Mark that all placeholders of the call share. */
  call: string
  secrets: readonly HeldSecret[]
  /** Parts with the values, for signers. */
  clear: SecretParts
  /** Parts with placeholders. */
  sealed: SecretParts
}

/** A call's secrets, as egress sees them. */
export type CallSecrets = SealedCall & {
  /** Digest of settings and credentials, which distinguishes tenants. */
  tenant: string
  /** Whether secrets are removed from replies. Not for OAuth, whose replies consist of them. */
  conceals: boolean
}

/**
 * Replaces every secret string that is not empty with a placeholder.
 *
 * @param granted Fields that the operator lets the connector read (`clear_secrets`), such as `token.token`,
 *   `settings.key` or `request.password`.
 */
export function sealCall(
  clear: SecretParts,
  schemas: Schemas,
  marks: Marks,
  granted: ReadonlySet<string>,
): SealedCall {
  const call = createCallMark()
  const secrets: HeldSecret[] = []
  const hide = (owner: string, field: string) => (value: string) => {
    if (value === '' || granted.has(field)) return value
    const placeholder = secretPlaceholder(marks, call, secrets.length)
    secrets.push({ placeholder, value, owner })
    return placeholder
  }
  return { marks, call, secrets, clear, sealed: mapSecrets(clear, schemas, hide) }
}

/** Returns a copy of a call's parts with its secret strings replaced. */
export function mapSecrets(
  { auth, credentials, settings, request }: SecretParts,
  schemas: Schemas,
  hide: Hide,
): SecretParts {
  return {
    auth: auth && sealCredential(auth, 'auth', hide),
    credentials:
      credentials &&
      Object.fromEntries(
        Object.entries(credentials).map(([id, one]) => [id, sealCredential(one, id, hide)]),
      ),
    settings: membersOf(
      sealObject(schemas.settings, settings, (name) =>
        hide(`settings.${name}`, `settings.${name}`),
      ),
    ),
    request: sealObject(schemas.request, request, (name) => hide('request', `request.${name}`)),
  }
}

/** Returns the replacement function for secrets of this owner in this field. */
type Hide = (owner: string, field: string) => (value: string) => string

function sealCredential(credential: AuthCredential, owner: string, hide: Hide): AuthCredential {
  const sealed: Record<string, unknown> = { ...credential }
  for (const kind of CREDENTIAL_KINDS) {
    const value = credential[kind]
    if (value === undefined) continue
    sealed[kind] = sealObject(AUTHENTICATION[kind], value, (name) => hide(owner, `${kind}.${name}`))
  }
  // The cast holds: it has the members of the credential, each of the same type.
  return sealed as AuthCredential
}

/** Returns a copy with the strings of secret members replaced, or the object itself if it has none. */
function sealObject(
  schema: AnySchema,
  value: unknown,
  hide: (name: string) => (value: string) => string,
): unknown {
  const members = secretMembers(schema)
  if (members.length === 0 || typeof value !== 'object' || value === null) return value
  const sealed: Record<string, unknown> = { ...value }
  for (const { name, clear } of members) {
    const held = sealed[name]
    // Nearly all secrets are strings.
    if (typeof held === 'string') sealed[name] = hide(name)(held)
    else if (typeof held === 'object') sealed[name] = mapTexts(held, hide(name), clear)
  }
  return sealed
}

/** Returns every secret string of a call that output may contain, without duplicates. */
export function secretsOf(
  { auth, credentials, settings, request }: SecretParts,
  schemas: Schemas,
): string[] {
  const all = [auth, ...Object.values(credentials ?? {})].flatMap((one) =>
    one ? credentialSecrets(one) : [],
  )
  all.push(...objectSecrets(schemas.settings, settings))
  all.push(...objectSecrets(schemas.request, request))
  return [...new Set(all)]
}

function credentialSecrets(credential: AuthCredential): string[] {
  return CREDENTIAL_KINDS.flatMap((kind) => {
    const value = credential[kind]
    if (value === undefined) return []
    const own = objectSecrets(AUTHENTICATION[kind], value)
    // The pair is a separate secret: in base64 it resembles neither half.
    if (kind === 'basic') own.push(`${credential.basic?.username}:${credential.basic?.password}`)
    return own
  })
}

/** Returns the strings of the members that the schema marks as secret. */
function objectSecrets(schema: AnySchema, value: unknown): string[] {
  if (!isRecord(value)) return []
  return secretMembers(schema).flatMap(({ name, clear }) => {
    const held = value[name]
    return typeof held === 'string' ? held : textsOf(held, clear)
  })
}

/** Reports whether an object's schema marks any member as secret. */
export const hasSecrets = (schema: AnySchema): boolean => secretMembers(schema).length > 0

/** A secret member. `clear` lists members inside it that are not secret. */
type SecretMember = { name: string; clear: readonly string[] }

const found = new WeakMap<AnySchema, readonly SecretMember[]>()

/** Returns the members that an object's schema marks as secret. Computed once per schema. */
function secretMembers(schema: AnySchema): readonly SecretMember[] {
  const known = found.get(schema)
  if (known) return known
  const { entries } = shapeOf(schema)
  const members = Object.entries(entries ?? {}).filter(([, member]) => isSecret(member))
  const secret = members.map(([name, member]) => ({ name, clear: clearMembers(member) }))
  found.set(schema, secret)
  return secret
}

function clearMembers(member: AnySchema): readonly string[] {
  const { clearMembers: names } = metadataOf(member)
  if (Array.isArray(names)) return names.map(String)
  const wrapped = wrappedIn(member)
  return wrapped === undefined ? [] : clearMembers(wrapped)
}

/**
 * Returns every field of these credentials, settings and requests that a connector may ask to read in clear.
 */
export function secretFields(
  kinds: readonly CredentialKind[],
  settings: AnySchema,
  requests: readonly AnySchema[],
): string[] {
  const of = (schema: AnySchema, at: string) =>
    secretMembers(schema).map(({ name }) => `${at}.${name}`)
  const all = [
    ...kinds.flatMap((kind) => of(AUTHENTICATION[kind], kind)),
    ...of(settings, 'settings'),
    ...requests.flatMap((schema) => of(schema, 'request')),
  ]
  return [...new Set(all)]
}

/** Returns whether findings about members of this schema must not repeat the value. */
export const quietMembers =
  (schema: AnySchema): IsQuiet =>
  ([name]) =>
    secretMembers(schema).some((one) => one.name === String(name))

function isSecret(schema: AnySchema): boolean {
  const { secret, field } = metadataOf(schema)
  const { type, secret: isSecretField } = membersOf(field)
  if (secret === true || (type === 'string' && isSecretField === true)) return true
  const wrapped = wrappedIn(schema)
  return wrapped !== undefined && isSecret(wrapped)
}

const textsOf = (value: unknown, clear: readonly string[]): string[] => {
  const texts: string[] = []
  const note = (text: string): string => {
    texts.push(text)
    return text
  }
  mapTexts(value, note, clear)
  return texts
}

/** Returns a copy of a JSON value with its strings replaced, except those in members listed in `clear`. */
function mapTexts(
  value: unknown,
  map: (text: string) => string,
  clear: readonly string[] = [],
): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, map))
  const members = Object.entries(value).map(([name, one]) => [
    name,
    clear.includes(name) ? one : mapTexts(one, map),
  ])
  return Object.fromEntries(members)
}
