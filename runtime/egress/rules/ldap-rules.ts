/**
 * A manifest's egress entries for directories: checks them, resolves them for one call, and finds the one
 * that allows a request. Pure: no lookups, no connections.
 */
import { type Dn, escapeDnValue, isWithin, parseDn } from '../../contract/connector/dn.ts'
import { LDAP_OPERATION_NAMES, type LdapOperation } from '../../contract/connector/ldap.ts'
import { type EgressEntry, isLdapRule, type LdapRule } from '../../contract/connector/manifest.ts'
import type { Fields } from '../../contract/connector/settings.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import {
  lacksSetting,
  misfit as misfitOf,
  resolveServer,
  SETTING,
  type ServerWords,
  type Settings,
  serverFinding,
  settingsFinding,
} from './server-url.ts'
import type { TemplateFinding } from './template-parts.ts'

const SCHEMES = { 'ldaps:': 636, 'ldap:': 389 } as const

const WORDS: ServerWords = {
  what: 'a directory',
  write: 'ldaps://host, ldap://host:389',
  example: 'ldaps://directory.example',
}

/** Entry resolved for one call. */
export type LdapTarget = {
  /** Path of the entry, for messages: `egress[0].base`. */
  field: string
  /** `ldaps:` or `ldap:`. */
  protocol: string
  /** Name or IP address; IPv6 without brackets. */
  host: string
  port: number
  /** `ldaps://host:port`. Secrets are bound to it, and requests are paced by it. */
  origin: string
  base: Dn
  /** Base as text, for messages. */
  baseText: string
  /** DNs, in addition to the base, that values of DN attributes may lie below. */
  references: readonly Dn[]
  operations: readonly LdapOperation[]
  bind: { credential: string; dn: string | null } | null
  passwordForm: 'rfc3062' | 'unicodePwd'
  secrets: readonly string[] | null
}

/** Returns the faults of these entries, as far as their templates show them. */
export function ldapFindings(
  entries: readonly EgressEntry[],
  fields: Fields,
  field: string,
): string[] {
  return entries.flatMap((rule, index) => {
    if (!isLdapRule(rule)) return []
    const templates: [name: string, template: string][] = [
      ['ldap', rule.ldap],
      ['base', rule.base],
      ...(rule.references ?? []).map((one, at): [string, string] => [`references[${at}]`, one]),
    ]
    if (rule.bind?.dn) templates.push(['bind.dn', rule.bind.dn])
    return templates.flatMap(([name, template]) => {
      const finding =
        name === 'ldap'
          ? serverFinding(template, fields, SCHEMES, WORDS)
          : dnFinding(template, fields)
      return finding === null
        ? []
        : [`${field}[${index}].${name}: ${JSON.stringify(template)} ${finding}`]
    })
  })
}

function dnFinding(template: string, fields: Fields): TemplateFinding | null {
  const finding = settingsFinding(template.replaceAll('{username}', 'x'), fields)
  if (finding !== null) return finding
  const sample = fillTemplate(template, (at) => (at === 'part' ? 'dc=x' : 'x'))
  if (sample === null)
    return 'has a setting in the middle of a value: a setting stands for a whole DN, or for all that follows ='
  const dn = parseDn(sample)
  return dn === null || dn.length === 0 ? 'is no DN: write ou=people,dc=acme,dc=example' : null
}

/**
 * Returns the targets of one call. An entry whose setting is absent is left out.
 *
 * @throws egress_setting if a value does not fit its place; the message names the setting, never the value
 */
export function resolveLdap(
  entries: readonly EgressEntry[],
  { level, settings, field = 'egress' }: { level: string; settings: Settings; field?: string },
): LdapTarget[] {
  return entries.flatMap((rule, index) => {
    if (!isLdapRule(rule)) return []
    const texts = [rule.ldap, rule.base, rule.bind?.dn ?? '', ...(rule.references ?? [])]
    return lacksSetting(texts, settings)
      ? []
      : [resolveOne(rule, level, settings, `${field}[${index}]`)]
  })
}

function resolveOne(rule: LdapRule, level: string, settings: Settings, field: string): LdapTarget {
  const { dn, text } = resolveDn(rule.base, settings)
  return {
    field,
    ...resolveServer(rule.ldap, settings, SCHEMES, WORDS),
    base: dn,
    baseText: text,
    references: (rule.references ?? []).map((one) => resolveDn(one, settings).dn),
    operations: rule.operations ?? (level === 'write' ? LDAP_OPERATION_NAMES : ['search']),
    bind: rule.bind
      ? { credential: rule.bind.credential, dn: bindTemplate(rule.bind.dn, settings) }
      : null,
    passwordForm: rule.password_form ?? 'rfc3062',
    secrets: rule.secrets ?? null,
  }
}

function resolveDn(template: string, settings: Settings): { dn: Dn; text: string } {
  const last = [...template.matchAll(SETTING)].at(-1)?.[1] ?? ''
  const text = fillTemplate(template, (at, name) => {
    const value = String(settings[name])
    if (at === 'value') return escapeDnValue(value)
    const dn = parseDn(value)
    if (dn !== null && dn.length > 0) return value
    throw misfit(name, 'it is no DN such as dc=acme,dc=example')
  })
  const dn = text === null ? null : parseDn(text)
  if (text !== null && dn !== null && dn.length > 0) return { dn, text }
  throw misfit(last, 'the DN that it is part of cannot be read')
}

/**
 * Returns the template of a bind's DN, with its settings. `{username}` stays until the credential is known.
 */
function bindTemplate(template: string | undefined, settings: Settings): string | null {
  if (template === undefined) return null
  return resolveDn(template.replaceAll('{username}', USERNAME), settings).text.replaceAll(
    USERNAME,
    '{username}',
  )
}

/** Stands for the user name while a template is parsed. None of its characters is special in a DN. */
const USERNAME = 'keyway-username-of-the-credential'

/**
 * Fills settings into a template of a DN: for a whole DN (`part`), or for the value after a `=`. Returns null
 * if one is at any other place.
 */
function fillTemplate(
  template: string,
  fill: (at: 'part' | 'value', name: string) => string,
): string | null {
  let isOdd = false
  const filled = template.replace(SETTING, (all, name: string, offset: number) => {
    const before = template[offset - 1]
    const after = template[offset + all.length]
    const ends = after === undefined || after === ','
    if (ends && (before === undefined || before === ',')) return fill('part', name)
    if (ends && before === '=') return fill('value', name)
    isOdd = true
    return ''
  })
  return isOdd ? null : filled
}

const misfit = (setting: string, why: string): RuntimeError => misfitOf(setting, WORDS.what, why)

/**
 * Returns the first target that allows an operation on an entry.
 *
 * @param dn Null for the base of the target itself.
 * @throws egress_undeclared with the declaration to add; it says only that the DN lies outside, never its
 * values
 */
export function judgeLdap(
  operation: LdapOperation,
  dn: Dn | null,
  targets: readonly LdapTarget[],
): LdapTarget {
  const covering = targets.filter(({ base }) => dn === null || isWithin(dn, base))
  const allowed = covering.find(({ operations }) => operations.includes(operation))
  if (allowed !== undefined) return allowed
  const [target] = covering
  throw new RuntimeError(
    'egress_undeclared',
    target !== undefined
      ? `The operation ${operation} is not allowed: ${target.field} (${target.baseText}) allows ${target.operations.join(', ')}. Add "${operation}" to its "operations"`
      : targets.length > 0
        ? `The operation ${operation} is not allowed there: the DN lies outside ${targets.map(({ baseText }) => baseText).join(' and ')}`
        : `The operation ${operation} is not allowed: no egress entry of this capability names a directory, or a setting of it is not set. Declare { "ldap": "ldaps://...", "base": "...", "operations": ["${operation}"] } in connector.json`,
  )
}

/** Reports whether a DN may be a value, such as that of a member. */
export const mayReferTo = (dn: Dn, { base, references }: LdapTarget): boolean =>
  [base, ...references].some((one) => isWithin(dn, one))
