/**
 * Parses the `url` templates of a manifest's egress entries. Pure: no values of settings, no network. Two
 * further steps decide which URLs one call may reach: resolve-rules.ts fills in the settings, policy.ts
 * judges.
 *
 * Source: runtime/docs/authors/manifest.md, "Egress matching".
 */
import { type EgressEntry, isUrlRule, type Method } from '../../contract/connector/manifest.ts'
import type { Fields } from '../../contract/connector/settings.ts'
import { ldapFindings } from './ldap-rules.ts'
import { sqlFindings } from './sql-rules.ts'
import {
  type Part,
  parsePath,
  secretSetting,
  splitParts,
  type TemplateFinding,
  undeclared,
} from './template-parts.ts'

/** Parsed entry. A path segment of `null` is `*`: any one segment that is not empty. */
export type CompiledRule = {
  /** Path of the entry, for messages: `egress[0].url`. */
  field: string
  template: string
  base: { setting: string } | BaseAddress
  /** Percent-decoded segments, so that `%20` and a raw space in a setting are equal. */
  path: readonly (readonly Part[] | null)[]
  methods: readonly Method[] | null
  secrets: readonly string[] | null
}

/** Base written in the template. `port` is empty for the scheme's default port. */
export type BaseAddress = {
  protocol: Protocol
  wildcard: boolean
  host: readonly Part[]
  port: string
}

export type Protocol = 'https:' | 'http:'

/**
 * Parses all entries for `ctx.fetch`. An entry with a finding is left out: it allows nothing.
 *
 * @param field Path of the list in connector.json, for the findings.
 */
export function compileRules(
  rules: readonly EgressEntry[],
  fields: Fields,
  field = 'egress',
): { rules: CompiledRule[]; findings: string[] } {
  const compiled: CompiledRule[] = []
  const findings: string[] = []
  rules.forEach((rule, index) => {
    if (!isUrlRule(rule)) return
    const at = `${field}[${index}].url`
    const parsed = parseTemplate(rule.url, fields)
    if (typeof parsed === 'string') findings.push(`${at}: ${JSON.stringify(rule.url)} ${parsed}`)
    else
      compiled.push({
        field: at,
        template: rule.url,
        ...parsed,
        methods: rule.methods ?? null,
        secrets: rule.secrets ?? null,
      })
  })
  return { rules: compiled, findings }
}

/**
 * Returns the faults of these entries: the field, the finding, and the alternative. Empty if there are none.
 * For `keyway check`.
 */
export const checkRules = (
  rules: readonly EgressEntry[],
  fields: Fields,
  field = 'egress',
): string[] => [
  ...compileRules(rules, fields, field).findings,
  ...ldapFindings(rules, fields, field),
  ...sqlFindings(rules, fields, field),
]

type Parsed = Pick<CompiledRule, 'base' | 'path'>

const STRAY_CHARACTERS: readonly [RegExp, TemplateFinding][] = [
  [/[\s\u0000-\u001f\u007f]/, 'holds white space or a control character: remove it'],
  [/\\/, 'holds a backslash: write / instead'],
  [/\?/, 'has a query: leave it out, queries are not matched'],
  [/#/, 'has a fragment: leave it out, fragments are never sent'],
]

function parseTemplate(template: string, fields: Fields): Parsed | TemplateFinding {
  for (const [pattern, finding] of STRAY_CHARACTERS) if (pattern.test(template)) return finding
  const whole = /^\{settings\.([a-z][a-z0-9_]*)\}(\/.*)?$/.exec(template)
  if (whole !== null) return parseWholeBase(whole[1]!, whole[2] ?? '', fields)

  const [, scheme, rest] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/i.exec(template)!
  const protocol = `${scheme?.toLowerCase() ?? 'https'}:`
  if (protocol !== 'https:' && protocol !== 'http:')
    return `has the scheme ${protocol}//: only https:// and http:// can be fetched`
  const slash = rest!.indexOf('/')
  const authority = slash === -1 ? rest! : rest!.slice(0, slash)
  const base = parseAuthority(protocol, authority, fields)
  if (typeof base === 'string') return base
  const path = parsePath(slash === -1 ? '' : rest!.slice(slash), fields)
  return typeof path === 'string' ? path : { base, path }
}

function parseWholeBase(
  setting: string,
  pathText: string,
  fields: Fields,
): Parsed | TemplateFinding {
  const field = fields[setting]
  if (field === undefined) return undeclared(setting)
  if (field.type !== 'string' || field.format !== 'url')
    return `begins with settings.${setting}, which has not the format url: declare "format": "url", or write https://{settings.${setting}}`
  if (field.secret === true) return secretSetting(setting)
  const path = parsePath(pathText, fields)
  return typeof path === 'string' ? path : { base: { setting }, path }
}

function parseAuthority(
  protocol: Protocol,
  authority: string,
  fields: Fields,
): BaseAddress | TemplateFinding {
  if (authority.includes('@')) return 'holds user info: leave out what stands before the @'
  const [, written, portText] = /^(.*?)(?::(\d*))?$/.exec(authority)!
  if (portText !== undefined && !(Number(portText) >= 1 && Number(portText) <= 65535))
    return `has no valid port after the colon: write a number from 1 to 65535, or leave the colon out`
  const wildcard = written!.startsWith('*.')
  const hostText = wildcard ? written!.slice(2) : written!
  if (hostText === '') return 'names no host: write https://api.acme.example'
  if (hostText.includes('*')) return 'has a * inside the host: only one leading label may be *.'
  if (hostText.includes(':') && !hostText.startsWith('['))
    return 'has a port that is no number: write a number from 1 to 65535'
  const host = splitParts(hostText)
  if (typeof host === 'string') return host
  for (const part of host) {
    const finding = 'setting' in part ? hostSetting(part.setting, fields) : null
    if (finding !== null) return finding
  }
  const finding = hostFinding(host, wildcard)
  if (finding !== null) return finding
  const port = portText === undefined ? '' : String(Number(portText))
  return {
    protocol,
    wildcard,
    host,
    port: port === (protocol === 'https:' ? '443' : '80') ? '' : port,
  }
}

/** Returns the fault of the host as a whole, judged with a harmless value for each setting, or null. */
function hostFinding(host: readonly Part[], wildcard: boolean): TemplateFinding | null {
  const sample = host
    .map((part) => ('text' in part ? part.text : 'x'))
    .join('')
    .toLowerCase()
  if (/[^\u0000-\u007f]/.test(sample)) return 'has a host outside ASCII: write its xn-- form'
  if (/(^|\.)(\.|$)/.test(sample)) return 'has an empty label in its host: remove the extra dot'
  const url = URL.parse(`https://${sample}/`)
  if (url === null || url.port !== '' || !/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/.test(sample))
    return 'has a host that is not a host name or an address'
  if (url.hostname !== sample) return `has a host that is read as ${url.hostname}: write that`
  const fixed = host.every((part) => 'text' in part)
  if (wildcard && (sample.startsWith('[') || /(^|\.)\d+$/.test(sample)))
    return 'has a wildcard before an address: addresses have no subdomains'
  if (wildcard && fixed && !sample.includes('.'))
    return 'has a wildcard over a whole top-level domain: write *.acme.example'
  return null
}

function hostSetting(setting: string, fields: Fields): TemplateFinding | null {
  const field = fields[setting]
  if (field === undefined) return undeclared(setting)
  if (field.type !== 'string')
    return `has settings.${setting} in its host, which is no string: declare "type": "string"`
  if (field.secret === true) return secretSetting(setting)
  if (field.format === 'url' || field.format === 'email')
    return `has settings.${setting} in its host, which has the format ${field.format}: declare "format": "hostname"${
      field.format === 'url' ? `, or begin the url with {settings.${setting}}` : ''
    }`
  return null
}
