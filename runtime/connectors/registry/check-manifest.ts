/**
 * Checks connector.json: first its shape, then the rules that a schema cannot express. Every finding names
 * the field, the value found, and what to write instead.
 */

import semver from 'semver'
import * as v from 'valibot'
import {
  CAPABILITIES,
  CAPABILITY_NAMES,
  isCapability,
} from '../../contract/capabilities/capabilities.ts'
import { AUTHENTICATION, type CredentialKind } from '../../contract/connector/authentication.ts'
import {
  type EgressEntry,
  INTERFACE_VERSION,
  isLdapRule,
  isSqlRule,
  MAX_MANIFEST_BYTES,
  Manifest,
} from '../../contract/connector/manifest.ts'
import { patternsFault } from '../../contract/connector/pattern.ts'
import { describeIssue, requestSchema, standardFields } from '../../contract/connector/payload.ts'
import { secretFields } from '../../contract/connector/secrets.ts'
import { type Field, type Fields, flatSchema } from '../../contract/connector/settings.ts'
import { sessionFault } from '../../contract/connector/sql-session.ts'
import { textFault } from '../../contract/connector/sql-text.ts'
import { nearest } from '../../contract/errors/nearest.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { marksIn } from '../../contract/limits/reply-limits.ts'
import { isPointer } from '../../contract/schema/json-pointer.ts'
import { misplacedArrays } from '../../contract/schema/misplaced-arrays.ts'
import { placeAt } from '../../contract/schema/place.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { CheckEgress } from './check-egress.ts'
import { checkExchange } from './check-exchange.ts'
import { oauthFindings } from './check-oauth.ts'

type CheckedManifest =
  | { ok: true; manifest: Manifest }
  | { ok: false; findings: string[]; id: string | null; version: string | null }

/** Capabilities that exist automatically and are never declared. */
const AUTOMATIC = ['info', 'app_info']

/** Examples for missing required members. */
const EXAMPLES: Record<string, string> = {
  id: '"id": "acme"',
  version: '"version": "1.0.0"',
  runtime: '"runtime": "^1.0.0"',
  capabilities: '"capabilities": { "list_accounts": {} }',
}

/** Maximum number of reported findings. */
const MAX_FINDINGS = 50

/** Parses and checks the text of a connector.json. */
export function checkManifest(text: string, checkEgress: CheckEgress): CheckedManifest {
  // Before parsing: checking a large manifest would block the host for seconds.
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_MANIFEST_BYTES)
    return refused(
      [
        `connector.json has ${bytes} bytes, at most ${MAX_MANIFEST_BYTES} are allowed; leave some out`,
      ],
      undefined,
    )
  const { maxMarks } = INPUTS.manifest
  if (marksIn(Buffer.from(text), maxMarks) > maxMarks)
    return refused(
      [`connector.json holds more than ${maxMarks / 2} values; leave some out`],
      undefined,
    )
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return refused([`connector.json is not JSON: ${messageOf(error)}`], undefined)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused([`connector.json: found ${show(value)}; write an object`], undefined)
  const patterns = patternsFault(value)
  if (patterns !== null) return refused([patterns], value)
  const parsed = v.safeParse(Manifest, value)
  if (!parsed.success) return refused(parsed.issues.map(shapeFinding), value)
  const arrays = misplacedArrays(Manifest, value)
  if (arrays.length > 0)
    return refused(
      arrays.map(({ path }) => `${placeAt(path)}: found a list; write an object`),
      value,
    )
  const findings = RULES.flatMap((rule) => rule(parsed.output, checkEgress))
  return findings.length > 0 ? refused(findings, value) : { ok: true, manifest: parsed.output }
}

/** Returns a finding of the schema, with what to write instead if known. */
function shapeFinding(issue: v.BaseIssue<unknown>): string {
  const finding = describeIssue(issue, '', () => false, Manifest)
  const [, field = ''] = /^([a-z_]+): (?:missing|there is no such field)$/.exec(finding) ?? []
  return EXAMPLES[field] ? `${finding}; write ${EXAMPLES[field]}` : finding
}

/** Applies a check to each list of egress entries in a manifest, with its path. */
const ofEgress = <T>(
  { egress, capabilities }: Manifest,
  find: (rules: readonly EgressEntry[], at: string) => readonly T[],
): T[] => [
  ...find(egress, 'egress'),
  ...Object.entries(capabilities).flatMap(([name, one]) =>
    find(one.egress ?? [], `capabilities.${name}.egress`),
  ),
]

type Rule = (manifest: Manifest, checkEgress: CheckEgress) => string[]

const RULES: readonly Rule[] = [
  ({ version }) =>
    /^\d\S*$/.test(version) && semver.valid(version) !== null
      ? []
      : [`version: found ${show(version)}; write a semantic version such as 1.0.0`],

  ({ runtime }) => {
    if (semver.validRange(runtime) === null)
      return [`runtime: found ${show(runtime)}; write a range such as ^1.0.0`]
    if (semver.satisfies(INTERFACE_VERSION, runtime)) return []
    return [
      `runtime: asks for ${runtime}, this runtime speaks ${INTERFACE_VERSION}; use a connector made for it, or another runtime`,
    ]
  },

  ({ authentication_schema, credentials }) => {
    if (authentication_schema && credentials)
      return ['authentication_schema, credentials: found both; write one of them']
    if (!authentication_schema && !credentials)
      return [
        'authentication_schema: missing; write { "kind": "token" }, another kind, or several `credentials`',
      ]
    const ids = (credentials ?? []).map(({ id }) => id)
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
    return twice.map((id) => `credentials: the id ${show(id)} stands twice; give each its own`)
  },

  ({ authentication_schema: single, credentials }) => [
    ...(single ? foreignFields('authentication_schema', single.kind, single.fields) : []),
    ...(credentials ?? []).flatMap(({ kind, fields }, index) =>
      foreignFields(`credentials[${index}]`, kind, fields),
    ),
  ],

  ({ capabilities }) =>
    Object.keys(capabilities).flatMap((name) => {
      if (AUTOMATIC.includes(name)) return [`capabilities.${name}: comes by itself; leave it out`]
      if (isCapability(name)) return []
      const near = nearest(name, CAPABILITY_NAMES)
      return [
        `capabilities.${name}: there is no such capability${near ? `; did you mean ${near}?` : ''}`,
      ]
    }),

  ({ capabilities }) =>
    Object.entries(capabilities).flatMap(([name, declared]) => {
      if (!isCapability(name)) return []
      const row: { extensible?: true; level: string } = CAPABILITIES[name]
      const at = `capabilities.${name}`
      const fields = { ...declared.request_fields, ...declared.response_fields }
      const standard = standardFields(name)
      return [
        ...(['request_fields', 'response_fields'] as const)
          .filter((member) => declared[member] && !row.extensible)
          .map(
            (member) => `${at}.${member}: only create_account and update_account may be widened`,
          ),
        ...Object.keys(fields)
          .filter((field) => standard.has(field))
          .map((field) => `${at}: ${field} is a standard field; give yours another name`),
        ...(declared.reads_with && row.level === 'write'
          ? [`${at}.reads_with: is for read capabilities; this one writes`]
          : []),
        ...(declared.reads_with && !declared.because
          ? [`${at}.because: missing; say why this read sends ${declared.reads_with.join(', ')}`]
          : []),
      ]
    }),

  ({ settings, capabilities }) => [
    ...fieldFindings('settings', settings),
    ...Object.entries(capabilities).flatMap(([name, one]) => [
      ...fieldFindings(`capabilities.${name}.request_fields`, one.request_fields ?? {}),
      ...fieldFindings(`capabilities.${name}.response_fields`, one.response_fields ?? {}),
    ]),
  ],

  (manifest, checkEgress) =>
    ofEgress(manifest, (rules, at) => checkEgress(rules, manifest.settings, at)),

  (manifest) => {
    const { settings, authentication_schema, credentials } = manifest
    const known = new Set([
      ...(authentication_schema ? ['auth'] : []),
      'request',
      ...(credentials ?? []).map(({ id }) => id),
      ...Object.keys(settings).map((name) => `settings.${name}`),
    ])
    return ofEgress(manifest, (rules, at) =>
      rules.flatMap(({ secrets = [] }, index) =>
        secrets
          .filter((name) => !known.has(name))
          .map(
            (name) =>
              `${at}[${index}].secrets: ${show(name)} is none of ${[...known].join(', ')}; write one of these`,
          ),
      ),
    )
  },

  (manifest) => {
    const { authentication_schema: single, credentials = [] } = manifest
    const basic = [...(single ? [{ ...single, id: 'auth' }] : []), ...credentials]
      .filter(({ kind }) => kind === 'basic')
      .map(({ id }) => id)
    return ofEgress(manifest, (rules, at) =>
      rules.flatMap((rule, index) => {
        const [member, credential] = isLdapRule(rule)
          ? ['bind', rule.bind?.credential]
          : isSqlRule(rule)
            ? ['login', rule.login.credential]
            : ['', undefined]
        return credential === undefined || basic.includes(credential)
          ? []
          : [
              `${at}[${index}].${member}.credential: found ${show(credential)}; write the id of a credential of the kind basic (auth for the single one): ${basic.join(', ') || 'there is none'}`,
            ]
      }),
    )
  },

  (manifest) => {
    const { statements } = manifest
    const unknown = (rules: readonly EgressEntry[], at: string) =>
      rules.flatMap((rule, index) =>
        (isSqlRule(rule) ? (rule.statements ?? []) : [])
          .filter((name) => !Object.hasOwn(statements, name))
          .map(
            (name) =>
              `${at}[${index}].statements: ${show(name)} is none of ${Object.keys(statements).join(', ') || 'the statements: there is none'}; declare it under "statements"`,
          ),
      )
    const rules = ofEgress(manifest, (some) => some).filter(isSqlRule)
    const dialectsOf = (name: string) => [
      ...new Set(
        rules
          .filter((rule) => rule.statements?.includes(name) ?? true)
          .map(({ dialect }) => dialect),
      ),
    ]
    return [
      ...Object.entries(statements).flatMap(([name, statement]) => {
        const faults = [
          textFault(statement),
          ...dialectsOf(name).map((dialect) => sessionFault(dialect, statement)),
        ]
        return [...new Set(faults)].flatMap((fault) =>
          fault === null ? [] : [`statements.${name}.text: ${fault}`],
        )
      }),
      ...ofEgress(manifest, unknown),
    ]
  },

  ({ entitlement_types, resource_types }) => {
    const known = resource_types.map(({ type_id }) => type_id)
    return entitlement_types.flatMap(({ type_id, resource_type_id, min, max }, index) => [
      ...(resource_type_id === '' || known.includes(resource_type_id)
        ? []
        : [
            `entitlement_types[${index}].resource_type_id: found ${show(resource_type_id)}; declare it under resource_types, or write "" for the global resource`,
          ]),
      ...(max !== undefined && max < min
        ? [`entitlement_types[${index}] (${type_id}): max ${max} is below min ${min}`]
        : []),
    ])
  },

  checkExchange,

  (manifest) => {
    const {
      clear_secrets,
      authentication_schema: single,
      credentials = [],
      capabilities,
    } = manifest
    if (clear_secrets.length === 0) return []
    const kinds = [...(single ? [single] : []), ...credentials].map(({ kind }) => kind)
    const requests = Object.entries(capabilities).flatMap(([name, { request_fields }]) =>
      isCapability(name) ? [requestSchema(name, request_fields)] : [],
    )
    const known = secretFields(kinds, flatSchema(manifest.settings), requests)
    return clear_secrets.flatMap(({ field }, index) =>
      known.includes(field)
        ? []
        : [
            `clear_secrets[${index}].field: ${show(field)} is no secret of a call; it has ${known.join(', ') || 'none'}`,
          ],
    )
  },

  oauthFindings,

  ({ errors_in_body: declared }) =>
    declared === undefined
      ? []
      : Object.entries({ 'when.json': declared.when.json, code: declared.code })
          .filter(([, pointer]) => !isPointer(pointer))
          .map(
            ([name, pointer]) =>
              `errors_in_body.${name}: found ${show(pointer)}; write a JSON Pointer such as /error`,
          ),
]

/** Reports titles and help for fields that the kind of credential does not have. */
function foreignFields(at: string, kind: CredentialKind, fields: object = {}): string[] {
  const own = Object.keys(AUTHENTICATION[kind].entries)
  return Object.keys(fields)
    .filter((name) => !own.includes(name))
    .map((name) => `${at}.fields.${name}: ${kind} has no such field; it has ${own.join(', ')}`)
}

function fieldFindings(at: string, fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const where = `${at}.${name}`
    if (field.required && field.default !== undefined)
      return [`${where}: required and default exclude each other`]
    if (field.type === 'integer' && (field.min ?? -Infinity) > (field.max ?? Infinity))
      return [`${where}: min is above max`]
    return defaultFinding(where, name, field)
  })
}

function defaultFinding(where: string, name: string, field: Field): string[] {
  if (field.default === undefined) return []
  const { default: value, ...rest } = field
  const needed: Field = { ...rest, required: true }
  const judged = v.safeParse(flatSchema({ [name]: needed }), { [name]: value })
  return judged.success ? [] : [`${where}.default: ${judged.issues[0].message}`]
}

function refused(findings: string[], value: unknown): CheckedManifest {
  const members = membersOf(value)
  const text = (one: unknown) => (typeof one === 'string' ? one.slice(0, 64) : null)
  const more = findings.length - MAX_FINDINGS
  const shown = more > 0 ? [...findings.slice(0, MAX_FINDINGS), `and ${more} more`] : findings
  return { ok: false, findings: shown, id: text(members.id), version: text(members.version) }
}

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? 'nothing'
