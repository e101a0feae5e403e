/** Determines the host settings that a connector may need, from the servers in its manifest. Pure. */
import { isIP } from 'node:net'
import {
  type EgressEntry,
  isLdapRule,
  isSqlRule,
  type Manifest,
} from '../../contract/connector/manifest.ts'
import { SQL_DIALECTS } from '../../contract/connector/sql.ts'
import type { HostSetting } from '../../contract/endpoints/installing.ts'
import { loginsOf } from './requested-grant.ts'

/** Maximum number of entries listed for one setting. */
const MAX_ENTRIES = 10

const PORTS: Readonly<Record<string, number>> = {
  ...{ https: 443, http: 80, ldaps: 636, ldap: 389 },
  ...Object.fromEntries(
    Object.values(SQL_DIALECTS).flatMap(({ schemes, port }) =>
      schemes.map((scheme) => [scheme.slice(0, -1), port]),
    ),
  ),
}
const PRIVATE_NAME = /\.(internal|local|localhost|lan|home\.arpa|corp|intranet|private)$/i
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/i

/** A server of a manifest; `isOpen` if a setting of the app names it. */
type Server = { scheme: string | null; target: string; isOpen: boolean; mayBePrivate: boolean }

/**
 * Returns entries for the settings that allow private servers and plain text. A public name may resolve to a
 * private address, but only a connection shows that, so public names are omitted. `HOST` and `PORT` stand for
 * values that the app supplies.
 */
export function hostSettingsOf(manifest: Manifest): HostSetting[] {
  const { id } = manifest
  const rules = rulesOfAll(manifest)
  const servers = (addresses: readonly string[]) =>
    addresses.flatMap((address) => serverOf(address) ?? [])
  const web = rules.flatMap((rule) => ('url' in rule ? rule.url : []))
  const directories = servers(rules.flatMap((rule) => (isLdapRule(rule) ? rule.ldap : [])))
  const databases = servers(rules.flatMap((rule) => (isSqlRule(rule) ? rule.sql : [])))
  const logins = loginsOf(manifest).map(([, , url]) => url)
  const all = [...servers([...web, ...logins]), ...directories, ...databases]
  const entries = (name: HostSetting['name'], found: readonly Server[]): HostSetting[] => {
    const targets = [...new Map(found.map((one) => [one.target, one])).values()]
    return targets
      .slice(0, MAX_ENTRIES)
      .map(({ target, isOpen }) => ({ name, entry: `${id}=${target}`, open: isOpen }))
  }
  return [
    ...entries(
      'KEYWAY_PRIVATE_EGRESS',
      all.filter((one) => one.mayBePrivate),
    ),
    ...entries(
      'KEYWAY_PLAIN_LDAP',
      directories.filter(({ scheme }) => scheme !== 'ldaps'),
    ),
    ...entries('KEYWAY_PLAIN_SQL', databases),
  ]
}

const rulesOfAll = ({ egress, capabilities }: Manifest): EgressEntry[] => [
  ...egress,
  ...Object.values(capabilities).flatMap((declared) => declared.egress ?? []),
]

/** Null if no setting could name this host. */
function serverOf(address: string): Server | null {
  const whole = /^(?:([a-z]+):\/\/)?((?:\{[^}]*\}|\[[^\]]*\]|[^/{}[\]:])+)(?::(\d+|\{[^}]*\}))?/i
  const [, scheme = null, host = '', port = ''] = whole.exec(address) ?? []
  const given = /^\d+$/.test(port) ? port : port === '' ? PORTS[scheme ?? ''] : undefined
  if (/^\{[^}]*\}$/.test(host)) {
    const target = `HOST:${given ?? 'PORT'}`
    return { scheme, target, isOpen: true, mayBePrivate: true }
  }
  // If a name begins with a setting, its domain decides whether it is public.
  const [name = ''] = host.split('}').slice(-1)
  const mayBePrivate =
    isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.') || PRIVATE_NAME.test(name)
  const isOpen = host !== name || given === undefined
  if (!HOST.test(name)) return null
  const target = `${host === name ? name : 'HOST'}:${given ?? 'PORT'}`
  return { scheme, target, isOpen, mayBePrivate }
}
