/** Fills the settings of one call into compiled egress entries. No value can change the structure. */

import type { Method } from '../../contract/connector/manifest.ts'
import { type Fields, HOSTNAME } from '../../contract/connector/settings.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { climbs, readSegments } from './path-segments.ts'
import type { Settings } from './server-url.ts'
import type { Part } from './template-parts.ts'
import type { BaseAddress, CompiledRule, Protocol } from './url-template.ts'

/** Entry resolved for one call. `host` is in lower case; for a wildcard, the part after `*.`. */
export type ResolvedRule = {
  field: string
  template: string
  protocol: Protocol
  wildcard: boolean
  host: string
  /** Empty for the scheme's default port, as in a parsed URL. */
  port: string
  /** Percent-decoded segments; `null` matches any one segment. */
  path: readonly (string | null)[]
  methods: readonly Method[] | null
  secrets: readonly string[] | null
}

/**
 * Returns the entries of one call. An entry whose setting is absent is left out, and the setting is named in
 * `absent`: a connector may serve two kinds of tenants with two optional settings.
 *
 * @throws egress_setting if a value does not fit its place; the message names the setting, never the value
 */
export function resolveRules(
  compiled: readonly CompiledRule[],
  fields: Fields,
  settings: Settings,
): { rules: ResolvedRule[]; absent: string[] } {
  const rules: ResolvedRule[] = []
  const absent = new Set<string>()
  for (const rule of compiled) {
    const missing = settingsOf(rule).filter((name) => (settings[name] ?? null) === null)
    for (const name of missing) absent.add(name)
    if (missing.length === 0) rules.push(resolveRule(rule, fields, settings))
  }
  return { rules, absent: [...absent] }
}

function resolveRule(rule: CompiledRule, fields: Fields, settings: Settings): ResolvedRule {
  const { field, template, methods, secrets } = rule
  const base =
    'setting' in rule.base
      ? baseOfSetting(rule.base.setting, settings)
      : resolveBase(rule.base, fields, settings)
  const path = rule.path.map((parts) => (parts === null ? null : resolveSegment(parts, settings)))
  return { field, template, ...base, path: [...base.path, ...path], methods, secrets }
}

type Resolved = Pick<ResolvedRule, 'protocol' | 'wildcard' | 'host' | 'port' | 'path'>

function baseOfSetting(setting: string, settings: Settings): Resolved {
  const value = settings[setting]
  const url = typeof value === 'string' ? URL.parse(value) : null
  // The parser removes tabs and newlines and turns \ into /. The checked text must be the text that is used.
  if (url === null || /[\s\\@?#\u0000-\u001f\u007f]/.test(String(value)))
    throw misfit(setting, 'it is not a plain base address such as https://acme.example/api')
  const { protocol, hostname, port } = url
  if (protocol !== 'https:' && protocol !== 'http:')
    throw misfit(setting, 'only https:// and http:// can be fetched')
  const path = readSegments(url.pathname.replace(/\/$/, ''))
  if (path === null || path.includes(''))
    throw misfit(setting, 'its path has an empty, . or .. segment, or a % that is no encoding')
  return { protocol, wildcard: false, host: hostname.replace(/\.$/, ''), port, path }
}

function resolveBase(base: BaseAddress, fields: Fields, settings: Settings): Resolved {
  const { protocol, wildcard, port } = base
  const host = base.host
    .map((part) => ('text' in part ? part.text : hostValue(part.setting, fields, settings)))
    .join('')
    .toLowerCase()
  const last = base.host.findLast((part) => 'setting' in part)
  if (last !== undefined) {
    // `2130706433` and `0x7f.1` are host names by their letters, but 127.0.0.1 to the parser.
    if (URL.parse(`https://${host}/`)?.hostname !== host)
      throw misfit(last.setting, 'the host it makes is not a host name')
    if (wildcard && (!host.includes('.') || /(^|\.)\d+$/.test(host)))
      throw misfit(last.setting, 'the wildcard would cover a whole top-level domain or an address')
  }
  return { protocol, wildcard, host, port, path: [] }
}

function hostValue(setting: string, fields: Fields, settings: Settings): string {
  const value = settings[setting]
  const field = fields[setting]
  // A setting's own rules were checked when the settings were parsed. Only structure in its value is checked
  // here.
  const constrained =
    field?.type === 'string' &&
    (field.format === 'hostname' || field.pattern !== undefined || field.enum !== undefined)
  if (typeof value === 'string' && (constrained ? HOSTNAME : /^[a-zA-Z0-9-]+$/).test(value))
    return value
  throw misfit(
    setting,
    constrained
      ? 'it is not a host name'
      : 'in a host it may hold only a-z, 0-9 and - (declare a pattern or the format hostname for more)',
  )
}

function resolveSegment(parts: readonly Part[], settings: Settings): string {
  const segment = parts
    .map((part) => ('text' in part ? part.text : pathValue(part.setting, settings)))
    .join('')
  const last = parts.findLast((part) => 'setting' in part)
  if (last !== undefined && climbs(segment))
    throw misfit(last.setting, 'it makes a . or .. segment')
  return segment
}

function pathValue(setting: string, settings: Settings): string {
  const value = String(settings[setting])
  if (value === '' || /[/\\?#%;\u0000-\u001f\u007f]/.test(value) || !value.isWellFormed())
    throw misfit(
      setting,
      'in a path it is one segment, without / \\ ? # % ; and control characters',
    )
  return value
}

const settingsOf = (rule: CompiledRule): string[] =>
  [
    ...('setting' in rule.base ? [rule.base] : rule.base.host),
    ...rule.path.flatMap((parts) => parts ?? []),
  ].flatMap((part) => ('setting' in part ? [part.setting] : []))

const misfit = (setting: string, why: string): RuntimeError =>
  new RuntimeError(
    'egress_setting',
    `settings.${setting} does not fit the address it is part of: ${why}`,
  )
