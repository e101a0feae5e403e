/** The catalogue of the built-in connectors for plugins/README.md, read from their manifests. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { CAPABILITIES } from '../runtime/contract/capabilities/capabilities.ts'
import { Manifest } from '../runtime/contract/connector/manifest.ts'
import { code, type Parts, table } from './markdown.ts'
import { trackedConnectors } from './tracked.ts'

/** System with which each connector is tested: its version, or a stand-in. */
const TRIED: Readonly<Record<string, string>> = {
  'active-directory': 'Samba 4.17 as a domain controller, not Windows',
  github: 'an emulator (`emulate`), not GitHub itself',
  'google-workspace': 'our own emulator, not Google itself',
  influxdb: 'InfluxDB 1.6',
  keystone: 'Keystone 22 (Zed)',
  ldap: 'OpenLDAP 2.5 and 389 Directory Server 2.3',
  mariadb: 'MariaDB 10.11, not MySQL',
  okta: 'an emulator (`emulate`), not Okta itself',
  postgresql: 'PostgreSQL 15 and 18',
  rabbitmq: 'RabbitMQ 3.10',
  redmine: 'Redmine 5.0',
  scim: 'the SCIM server of `oidc-scim`, and Keyway itself',
  slack: 'an emulator (`emulate`), not Slack itself',
  wordpress: 'WordPress 6.1, one site, not a network',
}

const connectors = () =>
  trackedConnectors().map((folder) => {
    const { id, name, description, version, capabilities } = v.parse(
      Manifest,
      JSON.parse(readFileSync(path.join(folder, 'connector.json'), 'utf8')),
    )
    const tried = TRIED[id]
    if (tried === undefined)
      throw new Error(`scripts/catalogue.ts: name the system with which ${id} is tested`)
    return { id, name: name ?? id, description: description ?? '', version, tried, capabilities }
  })

const linked = ({ id, name }: { id: string; name: string }) => `[${name}](${id}/README.md)`

export const CATALOGUE_PARTS: Parts = {
  connectors: () =>
    table(
      ['Connector', 'Version', 'Covers', 'Tested with'],
      connectors().map((one) => [linked(one), one.version, one.description, one.tried]),
    ),
  'connector-capabilities': () => {
    const all = connectors()
    return table(
      ['Capability', 'Connectors'],
      Object.keys(CAPABILITIES).flatMap((capability) => {
        const having = all.filter(({ capabilities }) => Object.hasOwn(capabilities, capability))
        if (having.length === 0) return []
        const cell =
          having.length === all.length ? 'all' : having.map(({ id }) => code(id)).join(', ')
        return [[code(capability), cell]]
      }),
    )
  },
}
