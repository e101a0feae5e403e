/**
 * The operator's grants of addresses: KEYWAY_PRIVATE_EGRESS, and two settings for plain text in the same
 * form.
 */
import * as v from 'valibot'
import {
  ConnectorId,
  normalizeId,
  SIGN_IN_ID,
  WEBHOOKS_ID,
} from '../../contract/connector/manifest.ts'

/** Private `host:port` pairs that each connector may reach, by normalised connector id. */
export type PrivateGrants = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Parses `connector_id=host:port` entries separated by white space; `webhooks` stands for inline webhooks,
 * `sign-in` for providers of sign-in. A host is a name, an IPv4 address or an IPv6 address in brackets, and
 * is compared with the host of the request's URL as written.
 *
 * @param variable Name of the setting, for the message.
 * @throws Error naming the entry and the right form
 */
export function parsePrivateGrants(
  text: string,
  variable = 'KEYWAY_PRIVATE_EGRESS',
): PrivateGrants {
  const grants = new Map<string, Set<string>>()
  for (const entry of text.split(/\s+/).filter(Boolean)) {
    const { id, target } = parseEntry(entry, variable)
    grants.set(id, (grants.get(id) ?? new Set()).add(target))
  }
  return grants
}

/** Returns all grants of the settings. @throws Error naming the setting, the entry and the right form */
export const grantsOf = (config: {
  privateEgress: string
  plainLdap: string
  plainSql: string
}): Record<'privateGrants' | 'plainLdap' | 'plainSql', PrivateGrants> => ({
  privateGrants: parsePrivateGrants(config.privateEgress),
  plainLdap: parsePrivateGrants(config.plainLdap, 'KEYWAY_PLAIN_LDAP'),
  plainSql: parsePrivateGrants(config.plainSql, 'KEYWAY_PLAIN_SQL'),
})

/** Reports whether the operator lets this connector reach this host and port although it is private. */
export const isGranted = (grants: PrivateGrants, connectorId: string, url: URL): boolean =>
  grants.get(normalizeId(connectorId))?.has(targetOf(url)) ?? false

/** Returns `host:port` of a URL, with the port written out and IPv6 in brackets. */
export const targetOf = (url: URL): string =>
  `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`

function parseEntry(entry: string, variable: string): { id: string; target: string } {
  const refuse = refusal(variable)
  const match = /^([^=]+)=(.*):(\d{1,5})$/.exec(entry)
  if (match === null) throw refuse(entry, 'is not connector_id=host:port')
  const [, id = '', host = '', port = ''] = match
  if (host.includes(',')) throw refuse(entry, 'holds a comma: entries are separated by spaces')
  if (id !== WEBHOOKS_ID && id !== SIGN_IN_ID && !v.is(ConnectorId, id))
    throw refuse(entry, `names no valid connector id (${id})`)
  if (Number(port) < 1 || Number(port) > 65535) throw refuse(entry, `has no valid port (${port})`)
  const url = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/i.test(host) ? URL.parse(`http://${host}/`) : null
  if (url === null) throw refuse(entry, 'has no valid host (IPv6 addresses stand in brackets)')
  return { id: normalizeId(id), target: `${url.hostname.replace(/\.$/, '')}:${Number(port)}` }
}

const refusal =
  (variable: string) =>
  (entry: string, why: string): Error =>
    new Error(
      `${variable}: "${entry}" ${why}. Write entries such as acme=10.0.0.5:8443, acme=directory.internal:443 or acme=[fd00::5]:443, separated by spaces`,
    )
