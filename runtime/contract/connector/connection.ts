/**
 * The data that connects an app to its system, in its two forms. Callers of the core interface send `auth`
 * and `settings`. For a connector with one authentication schema, `auth` holds the fields of its kind (`{
 * "token": "..." }`). For one with several credentials, it holds those fields by credential id (`{ "api": {
 * "token": "..." } }`). Connectors are called with the envelope of service.md section 2.1.
 */

import * as v from 'valibot'
import { nearest } from '../errors/nearest.ts'
import { entriesOf } from '../schema/keys.ts'
import { membersOf } from '../schema/record.ts'
import { type AnySchema, metadataOf } from '../schema/shape.ts'
import {
  AUTHENTICATION,
  type AuthCredential,
  type CredentialKind,
  credentialOf,
  RENEWAL,
  type Renewal,
} from './authentication.ts'
import type { Manifest } from './manifest.ts'
import { describeIssues } from './payload.ts'
import { quietMembers } from './secrets.ts'

/** Members of an envelope that determine the tenant and its credentials. */
export type Connection = {
  auth?: AuthCredential
  credentials?: AuthCredential[]
  settings: Record<string, unknown>
  /**
   * Data for renewing access tokens, by credential id; under the empty id if there is only one credential.
   */
  renewals?: Record<string, Renewal>
}

/** Returns the part of a connection that is passed to a connector. */
export const envelopeOf = ({ renewals: _, ...envelope }: Connection) => envelope

type Declared = Pick<Manifest, 'authentication_schema' | 'credentials' | 'oauth'>
type CredentialFields = NonNullable<Manifest['authentication_schema']>['fields']

/** Without a prototype, so that `constructor` is an unknown member like any other. */
const exactly = (entries: [string, AnySchema][]): v.ObjectEntries =>
  Object.assign(Object.create(null), Object.fromEntries(entries))

/** Returns the strict schema of one credential's fields, with the manifest's defaults. */
function credentialFields(kind: CredentialKind, fields: CredentialFields = {}, isRenewed = false) {
  const entries: Record<string, v.GenericSchema> = {
    ...AUTHENTICATION[kind].entries,
    ...(isRenewed && kind === 'oauth' ? RENEWAL.entries : {}),
  }
  const members = Object.entries<v.GenericSchema>(entries).map(
    ([name, schema]): [string, AnySchema] => {
      const value = fields[name]?.default
      return [name, value === undefined ? schema : v.nullish(schema, value)]
    },
  )
  return v.strictObject(exactly(members))
}

/** Returns the schema of `auth`. */
export function authSchema({ authentication_schema: single, credentials = [], oauth }: Declared) {
  if (single) return credentialFields(single.kind, single.fields, oauth !== undefined)
  const members = credentials.map(
    ({ id, kind, fields, optional, oauth: own }): [string, AnySchema] => {
      const schema = credentialFields(kind, fields, own !== undefined)
      return [id, optional ? v.optional(schema) : schema]
    },
  )
  return v.strictObject(exactly(members))
}

type Parsed<T> = { ok: true; value: T } | { ok: false; findings: string }

/** Parses `auth` into the envelope's form. Findings name the member and never repeat a value. */
export function parseAuth(manifest: Manifest, auth: unknown): Parsed<Omit<Connection, 'settings'>> {
  const schema = authSchema(manifest)
  const parsed = v.safeParse(schema, auth)
  if (parsed.success) return { ok: true, value: toEnvelope(manifest, membersOf(parsed.output)) }
  const findings = describeIssues(parsed.issues, 'auth', () => true, schema)
  return { ok: false, findings: `${findings}; write "auth": ${shownForm(manifest)}` }
}

/**
 * Parses `settings` by the connector's own schema. That schema drops unknown members. Here they are refused,
 * because with a misspelt setting the app would connect to the wrong target.
 */
export function parseSettings(
  manifest: Manifest,
  schema: AnySchema,
  settings: Record<string, unknown>,
): Parsed<Record<string, unknown>> {
  const parsed = v.safeParse(schema, settings)
  const unknown = Object.keys(settings)
    .filter((name) => !Object.hasOwn(manifest.settings, name))
    .slice(0, 10)
    .map((name) => {
      const near = nearest(name, Object.keys(manifest.settings))
      const perhaps = near === null ? '' : `; did you mean ${near}?`
      return `settings.${name.slice(0, 64)}: there is no such setting${perhaps}`
    })
  if (parsed.success && unknown.length === 0) return { ok: true, value: membersOf(parsed.output) }
  const findings = parsed.success
    ? []
    : [describeIssues(parsed.issues, 'settings', quietMembers(schema))]
  return { ok: false, findings: [...findings, ...unknown].join('; ') }
}

/** Converts credentials to the envelope's form. */
function toEnvelope(
  { authentication_schema: single, credentials = [] }: Declared,
  fields: Record<string, unknown>,
): Omit<Connection, 'settings'> {
  if (single) {
    const { held, renewal } = split(single.kind, fields)
    return { auth: credentialOf(single.kind, held), ...renewalsOf([['', renewal]]) }
  }
  const sent = credentials
    .filter(({ id }) => fields[id] !== undefined)
    .map(({ id, kind }) => ({ id, kind, ...split(kind, membersOf(fields[id])) }))
  return {
    credentials: sent.map(({ id, kind, held }) => ({ ...credentialOf(kind, held), id })),
    ...renewalsOf(sent.map(({ id, renewal }) => [id, renewal])),
  }
}

/** Splits fields into those passed to the connector and those that renew the token. */
function split(kind: CredentialKind, fields: Record<string, unknown>) {
  const own: readonly string[] = Object.keys(AUTHENTICATION[kind].entries)
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  const held = given.filter(([name]) => own.includes(name))
  const renewal = given.filter(([name]) => !own.includes(name))
  // The cast holds: the schema that parsed the fields allows no other members than these two groups.
  return { held: Object.fromEntries(held), renewal: Object.fromEntries(renewal) as Renewal }
}

/** Returns no member if there are no renewals, so that such a connection is stored in its original form. */
function renewalsOf(all: [string, Renewal][]): Pick<Connection, 'renewals'> {
  const some = all.filter(([, renewal]) => Object.keys(renewal).length > 0)
  return some.length === 0 ? {} : { renewals: Object.fromEntries(some) }
}

/**
 * Returns a template of `auth` for the error message. Callers tend to send the envelope's form, which they
 * know from connector calls.
 */
function shownForm({ authentication_schema: single, credentials = [] }: Declared): string {
  const shown = (kind: CredentialKind) =>
    `{ ${Object.keys(AUTHENTICATION[kind].entries)
      .map((name) => `"${name}": …`)
      .join(', ')} }`
  if (single) return shown(single.kind)
  return `{ ${credentials.map(({ id, kind }) => `"${id}": ${shown(kind)}`).join(', ')} }`
}

/**
 * Returns the part of a connection that stays the same when a credential is rotated: settings that are set
 * and not secret, and credential fields of nature `identity`, in a fixed order. A setting that a later
 * version of the connector adds changes nothing until it is set.
 */
export function identityOf(manifest: Manifest, connection: Connection): unknown {
  const settings = Object.entries(manifest.settings)
    .filter(([, field]) => !(field.type === 'string' && field.secret === true))
    .map(([name]) => [name, connection.settings[name] ?? null])
    .filter(([, value]) => value !== null)
  const credentials = [connection.auth ?? [], connection.credentials ?? []]
    .flat()
    .map((credential) => [credential.id ?? null, ...identityFields(credential)])
  return [settings.sort(byName), credentials.sort(byName)]
}

function identityFields(credential: AuthCredential): unknown[] {
  return entriesOf(AUTHENTICATION).flatMap(([kind, schema]) => {
    if (credential[kind] === undefined) return []
    const held = membersOf(credential[kind])
    return Object.entries(schema.entries)
      .filter(([, entry]) => natureOf(entry) === 'identity')
      .map(([name]) => [kind, name, held[name] ?? null])
  })
}

const natureOf = (entry: AnySchema): unknown => metadataOf(entry)['nature']

const byName = ([a]: unknown[], [b]: unknown[]): number => (String(a) < String(b) ? -1 : 1)
