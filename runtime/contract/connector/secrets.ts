/**
 * Which values of a call are secret, read from the contract and the manifest: nowhere else is it said.
 * In the sandbox each is a placeholder; the values stay in the host.
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

/** What says which settings and which fields of a request are secret: made once for a version. */
export type Schemas = { settings: AnySchema; request: AnySchema }

/** One secret of a call. */
type HeldSecret = {
  placeholder: string
  value: string
  /** Whose it is, as an egress entry's `secrets` names it: `auth`, a credential id, `settings.x`, `request`. */
  owner: string
}

/** The secrets of one call, and what the sandbox gets in their place. */
type SealedCall = {
  marks: Marks
  /** What is the same in all placeholders of the call. */
  call: string
  secrets: readonly HeldSecret[]
  /** With the values: for signers. */
  clear: SecretParts
  /** With placeholders. */
  sealed: SecretParts
}

/** What egress knows of a call's secrets. */
export type CallSecrets = SealedCall & {
  /** Digest of settings and credentials: what tells tenants apart. */
  tenant: string
  /** Whether secrets are taken out of replies: not for OAuth, whose replies are made of them. */
  conceals: boolean
}

/**
 * Puts a placeholder in the place of every secret text that is not empty.
 *
 * @param granted Fields that the operator lets the connector read (`clear_secrets`): `token.token`,
 * `settings.key`, `request.password`.
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

/** A copy of a call's parts with other texts in the place of the secret ones. */
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

/** Makes what a secret of this owner, in this field, is replaced by. */
type Hide = (owner: string, field: string) => (value: string) => string

function sealCredential(credential: AuthCredential, owner: string, hide: Hide): AuthCredential {
  const sealed: Record<string, unknown> = { ...credential }
  for (const kind of CREDENTIAL_KINDS) {
    const value = credential[kind]
    if (value === undefined) continue
    sealed[kind] = sealObject(AUTHENTICATION[kind], value, (name) => hide(owner, `${kind}.${name}`))
  }
  // The cast: it has the members of the credential, each of its form.
  return sealed as AuthCredential
}

/** A copy with other texts in the members that the schema marks as secret; without any, the object itself. */
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
    // Nearly all are texts.
    if (typeof held === 'string') sealed[name] = hide(name)(held)
    else if (typeof held === 'object') sealed[name] = mapTexts(held, hide(name), clear)
  }
  return sealed
}

/** Every secret text of a call, without doubles, as it may show in what leaves. */
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
    // The pair is a secret of its own: in base64 it looks like neither of its halves.
    if (kind === 'basic') own.push(`${credential.basic?.username}:${credential.basic?.password}`)
    return own
  })
}

/** Texts of the members that the schema marks as secret. */
function objectSecrets(schema: AnySchema, value: unknown): string[] {
  if (!isRecord(value)) return []
  return secretMembers(schema).flatMap(({ name, clear }) => {
    const held = value[name]
    return typeof held === 'string' ? held : textsOf(held, clear)
  })
}

/** Whether an object's schema marks any member as secret. */
export const hasSecrets = (schema: AnySchema): boolean => secretMembers(schema).length > 0

/** `clear`: members of it that are no secret nevertheless. */
type SecretMember = { name: string; clear: readonly string[] }

const found = new WeakMap<AnySchema, readonly SecretMember[]>()

/** The members that an object's schema marks as secret; looked for once for each schema. */
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

/** Every field of these kinds of credentials, settings and request that may be asked for in clear. */
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

/** Whether a finding about these members of an object of this schema must not repeat their value. */
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

/** A copy of a JSON value with other texts, but for what its members `clear` hold. */
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
