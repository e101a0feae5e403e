/**
 * The manifest's entries for directories: what is wrong with them, what one call may reach by them, and which of
 * them lets a request pass. Pure: nothing is looked up or opened here.
 */
import { type Dn, escapeDnValue, isWithin, parseDn } from '../../contract/connector/dn.ts'
import { LDAP_OPERATION_NAMES, type LdapOperation } from '../../contract/connector/ldap.ts'
import { type EgressEntry, isLdapRule, type LdapRule } from '../../contract/connector/manifest.ts'
import { type Fields, HOSTNAME } from '../../contract/connector/settings.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { type Finding, secretSetting, splitParts, undeclared } from './template-parts.ts'

type Settings = Readonly<Record<string, unknown>>

/** One entry as it stands for one call. */
export type LdapTarget = {
  /** Where it stands, for messages: `egress[0].base`. */
  field: string
  protocol: 'ldaps:' | 'ldap:'
  /** A name or an address; IPv6 without brackets. */
  host: string
  port: number
  /** `ldaps://host:port`: what secrets are bound to and turns are taken for. */
  origin: string
  base: Dn
  /** The base as the operator reads it. */
  baseText: string
  /** What values of DN attributes may lie below, beside the base. */
  references: readonly Dn[]
  operations: readonly LdapOperation[]
  bind: { credential: string; dn: string | null } | null
  passwordForm: 'rfc3062' | 'unicodePwd'
  secrets: readonly string[] | null
}

/** What is wrong with these entries, as far as their templates say it. */
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
      ...(rule.bind?.dn ? [['bind.dn', rule.bind.dn] as [string, string]] : []),
    ]
    return templates.flatMap(([name, template]) => {
      const finding = name === 'ldap' ? urlFinding(template, fields) : dnFinding(template, fields)
      return finding === null
        ? []
        : [`${field}[${index}].${name}: ${JSON.stringify(template)} ${finding}`]
    })
  })
}

function settingsFinding(template: string, fields: Fields): Finding | null {
  const parts = splitParts(template.replaceAll('{username}', 'x'))
  if (typeof parts === 'string') return parts
  for (const part of parts) {
    if ('text' in part) continue
    const field = fields[part.setting]
    if (field === undefined) return undeclared(part.setting)
    if (field.type !== 'string') return `uses settings.${part.setting}, which is no string`
    if (field.secret === true) return secretSetting(part.setting)
  }
  return null
}

function urlFinding(template: string, fields: Fields): Finding | null {
  const finding = settingsFinding(template, fields)
  if (finding !== null) return finding
  if (/^\{settings\.[a-z][a-z0-9_]*\}$/.test(template)) return null
  const sample = template.replace(/\{settings\.[a-z][a-z0-9_]*\}/g, 'x')
  return readUrl(sample) === null
    ? 'is no address of a directory: write ldaps://host, ldap://host:389 or {settings.url}, without a path'
    : null
}

function dnFinding(template: string, fields: Fields): Finding | null {
  const finding = settingsFinding(template, fields)
  if (finding !== null) return finding
  const sample = fillTemplate(template, (at) => (at === 'part' ? 'dc=x' : 'x'))
  if (sample === null)
    return 'has a setting in the middle of a value: a setting stands for a whole DN, or for all that follows ='
  const dn = parseDn(sample)
  return dn === null || dn.length === 0 ? 'is no DN: write ou=people,dc=acme,dc=example' : null
}

/**
 * The targets of one call. An entry whose setting is absent is left out.
 *
 * @throws egress_setting a value that does not fit its place; the message names the setting, never the value
 */
export function resolveLdap(
  entries: readonly EgressEntry[],
  { level, settings, field = 'egress' }: { level: string; settings: Settings; field?: string },
): LdapTarget[] {
  return entries.flatMap((rule, index) => {
    if (!isLdapRule(rule)) return []
    const texts = [rule.ldap, rule.base, rule.bind?.dn ?? '', ...(rule.references ?? [])]
    const missing = texts.some((text) =>
      [...text.matchAll(SETTING)].some(([, name = '']) => (settings[name] ?? null) === null),
    )
    return missing ? [] : [resolveOne(rule, level, settings, `${field}[${index}]`)]
  })
}

const SETTING = /\{settings\.([a-z][a-z0-9_]*)\}/g

function resolveOne(rule: LdapRule, level: string, settings: Settings, field: string): LdapTarget {
  const { protocol, host, port } = resolveUrl(rule.ldap, settings)
  const written = host.includes(':') ? `[${host}]` : host
  const { dn, text } = resolveDn(rule.base, settings)
  return {
    field,
    protocol,
    host,
    port,
    origin: `${protocol}//${written}:${port}`,
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

function resolveUrl(template: string, settings: Settings) {
  const whole = /^\{settings\.([a-z][a-z0-9_]*)\}$/.exec(template)?.[1]
  const text = template.replace(SETTING, (_all, name: string) => {
    const value = settings[name]
    if (typeof value === 'string' && (whole !== undefined || HOSTNAME.test(value))) return value
    throw misfit(name, 'in an address it is a host name')
  })
  const read = readUrl(text)
  if (read !== null) return read
  throw misfit(whole ?? 'the host', 'it is no address such as ldaps://directory.example')
}

/** Scheme, host and port of an address without path, or null. */
function readUrl(text: string): Pick<LdapTarget, 'protocol' | 'host' | 'port'> | null {
  const match = /^(ldaps?):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?\/?$/i.exec(text)
  if (match === null) return null
  const [, scheme = '', written = '', portText] = match
  // The parser of URLs knows every way to write an address: `0x7f.1` is no name.
  const hostname = URL.parse(`http://${written}/`)?.hostname.replace(/\.$/, '')
  if (hostname === undefined || hostname === '') return null
  const protocol = scheme.toLowerCase() === 'ldaps' ? 'ldaps:' : 'ldap:'
  const port = Number(portText ?? (protocol === 'ldaps:' ? 636 : 389))
  if (port < 1 || port > 65_535) return null
  return { protocol, host: hostname.replace(/^\[|\]$/g, ''), port }
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

/** The template of a bind's DN, with its settings; `{username}` stays, for when the credential is at hand. */
function bindTemplate(template: string | undefined, settings: Settings): string | null {
  if (template === undefined) return null
  return resolveDn(template.replaceAll('{username}', USERNAME), settings).text.replaceAll(
    USERNAME,
    '{username}',
  )
}

/** Stands for the user name while a template is read: no character of it is special in a DN. */
const USERNAME = 'keyway-username-of-the-credential'

/**
 * Puts settings into a template of a DN: for a whole DN (`part`), or for the value after a `=`. Null where one
 * stands anywhere else.
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

const misfit = (setting: string, why: string): RuntimeError =>
  new RuntimeError('egress_setting', `settings.${setting} does not fit its directory: ${why}`)

/**
 * The first target that allows an operation on an entry.
 *
 * @param dn Null for the base of the target itself.
 * @throws egress_undeclared saying what to declare; of the DN only where it lies, never its values
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

/** Whether a DN may stand as a value, as that of a member. */
export const mayReferTo = (dn: Dn, { base, references }: LdapTarget): boolean =>
  [base, ...references].some((one) => isWithin(dn, one))
