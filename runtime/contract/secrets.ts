/** Which values of a call are secret, read from the contract and the manifest: nowhere else is it said. */
import * as v from 'valibot'
import {
  AUTHENTICATION,
  type AuthCredential,
  CLEAR_KEY_MEMBERS,
  CREDENTIAL_KINDS,
} from './authentication.ts'
import type { AnySchema } from './capabilities.ts'
import type { IsQuiet } from './payload.ts'
import type { Field } from './settings.ts'

type Parts = {
  auth: AuthCredential | null
  credentials: Record<string, AuthCredential> | null
  settings: Record<string, unknown>
  request: unknown
}

/** What says which settings and which fields of a request are secret: made once for a version. */
type Schemas = { settings: AnySchema; request: AnySchema }

/** Every secret text of a call, without doubles. */
export function secretsOf(
  { auth, credentials, settings, request }: Parts,
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
    return kind === 'service_account'
      ? [...own, ...keySecrets(credential.service_account?.key ?? {})]
      : own
  })
}

function keySecrets(key: Record<string, unknown>): string[] {
  return Object.entries(key).flatMap(([name, value]) =>
    (CLEAR_KEY_MEMBERS as readonly string[]).includes(name) ? [] : texts(value),
  )
}

/** Texts of the members that the schema marks as secret. */
function objectSecrets(schema: AnySchema, value: unknown): string[] {
  const { entries } = schema as { entries?: Record<string, AnySchema> }
  if (!entries || typeof value !== 'object' || value === null) return []
  return Object.entries(entries).flatMap(([name, member]) => {
    const held = (value as Record<string, unknown>)[name]
    return isSecret(member) && typeof held === 'string' ? [held] : []
  })
}

/** Whether a finding about these members of an object of this schema must not repeat their value. */
export const quietMembers =
  (schema: AnySchema): IsQuiet =>
  ([name]) => {
    const { entries } = schema as { entries?: Record<string, AnySchema> }
    const member = entries && Object.hasOwn(entries, String(name)) ? entries[String(name)] : null
    return member !== null && member !== undefined && isSecret(member)
  }

function isSecret(schema: AnySchema): boolean {
  const { secret, field } = v.getMetadata(schema as never) as { secret?: boolean; field?: Field }
  if (secret === true || (field?.type === 'string' && field.secret === true)) return true
  const { wrapped } = schema as { wrapped?: AnySchema }
  return wrapped !== undefined && isSecret(wrapped)
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(texts)
}
