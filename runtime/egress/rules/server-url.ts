/** Addresses of servers that do not speak HTTP: scheme, host and port, from templates with settings. Pure. */
import { type Fields, HOSTNAME } from '../../contract/connector/settings.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { secretSetting, splitParts, type TemplateFinding, undeclared } from './template-parts.ts'

export type Settings = Readonly<Record<string, unknown>>

/** Matches settings in a template. */
export const SETTING = /\{settings\.([a-z][a-z0-9_]*)\}/g

/** Server. The host is a name or an IP address, IPv6 without brackets. */
type Server = { protocol: string; host: string; port: number }

/** Schemes, with the default port of each. */
export type Schemes = Readonly<Record<string, number>>

/** Words for messages. */
export type ServerWords = {
  /** `a directory`. */
  what: string
  /** `ldaps://host, ldap://host:389`. */
  write: string
  /** `ldaps://directory.example`. */
  example: string
}

/** Reports whether a setting of these templates is absent. Then the entry is left out. */
export const lacksSetting = (templates: readonly string[], settings: Settings): boolean =>
  templates.some((text) =>
    [...text.matchAll(SETTING)].some(([, name = '']) => (settings[name] ?? null) === null),
  )

/** Returns the fault of a template's settings, or null. */
export function settingsFinding(template: string, fields: Fields): TemplateFinding | null {
  const parts = splitParts(template)
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

/** Returns the fault of an address template, or null. */
export function serverFinding(
  template: string,
  fields: Fields,
  schemes: Schemes,
  { what, write, example }: ServerWords,
): TemplateFinding | null {
  const finding = settingsFinding(template, fields)
  if (finding !== null) return finding
  const whole = /^\{settings\.([a-z][a-z0-9_]*)\}$/.exec(template)?.[1]
  const field = whole === undefined ? undefined : fields[whole]
  if (field?.type === 'string' && field.format === 'url')
    return `stands for settings.${whole} of the format url, which takes http and https alone: write a "pattern" there instead, such as "^${example.slice(0, example.indexOf('//') + 2)}.+$"`
  if (whole !== undefined) return null
  return readServer(template.replace(SETTING, 'x'), schemes) === null
    ? `is no address of ${what}: write ${write} or {settings.url}, without a path`
    : null
}

/**
 * Returns the server of a template, with its settings filled in.
 *
 * @throws egress_setting naming the setting, never the value
 */
export function resolveServer(
  template: string,
  settings: Settings,
  schemes: Schemes,
  { what, example }: ServerWords,
): Server & { origin: string } {
  const whole = /^\{settings\.([a-z][a-z0-9_]*)\}$/.exec(template)?.[1]
  const text = template.replace(SETTING, (_all, name: string) => {
    const value = settings[name]
    if (typeof value === 'string' && (whole !== undefined || HOSTNAME.test(value))) return value
    throw misfit(name, what, 'in an address it is a host name')
  })
  const read = readServer(text, schemes)
  if (read === null)
    throw misfit(
      whole ?? 'the host',
      what,
      `it is no address such as ${example}: scheme, host and perhaps a port, without a user or a path`,
    )
  const written = read.host.includes(':') ? `[${read.host}]` : read.host
  return { ...read, origin: `${read.protocol}//${written}:${read.port}` }
}

/** Parses scheme, host and port of an address without a path. Returns null if it is invalid. */
function readServer(text: string, schemes: Schemes): Server | null {
  const match = /^([a-z]+):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?\/?$/i.exec(text)
  if (match === null) return null
  const [, scheme = '', written = '', portText] = match
  const protocol = `${scheme.toLowerCase()}:`
  const usual = Object.hasOwn(schemes, protocol) ? schemes[protocol] : undefined
  if (usual === undefined) return null
  // The URL parser knows every notation of an IP address: `0x7f.1` is not a name.
  const hostname = URL.parse(`http://${written}/`)?.hostname.replace(/\.$/, '')
  if (hostname === undefined || hostname === '') return null
  const port = Number(portText ?? usual)
  if (port < 1 || port > 65_535) return null
  return { protocol, host: hostname.replace(/^\[|\]$/g, ''), port }
}

/** Returns the error for a setting that does not fit its place. */
export const misfit = (setting: string, what: string, why: string): RuntimeError =>
  new RuntimeError(
    'egress_setting',
    `settings.${setting} does not fit its ${what.replace(/^an? /, '')}: ${why}`,
  )
