/** Which settings of the host a manifest may need, as entries to copy. */

import * as v from 'valibot'
import { expect, test } from 'vitest'
import { hostSettingsOf } from '../../../runtime/connectors/registry/host-settings.ts'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'

const manifest = (more: object): Manifest =>
  v.parse(Manifest, {
    ...{
      id: 'acme',
      version: '1.0.0',
      runtime: '^1.0.0',
      authentication_schema: { kind: 'token' },
    },
    capabilities: { list_accounts: {} },
    ...more,
  })
const web = (...urls: string[]) => manifest({ egress: urls.map((url) => ({ url })) })
const entriesOf = (one: Manifest) =>
  hostSettingsOf(one).map(({ name, entry }) => `${name}: ${entry}`)

test.each([
  ['https://api.acme.example', []],
  ['https://{settings.tenant}.acme.example/api', []],
  ['https://10.0.0.5:8443/api', ['acme=10.0.0.5:8443']],
  ['https://[fd00::5]/api', ['acme=[fd00::5]:443']],
  ['https://wiki.internal', ['acme=wiki.internal:443']],
  ['https://localhost:9000', ['acme=localhost:9000']],
  ['{settings.base_url}/api', ['acme=HOST:PORT']],
  ['https://{settings.host}/api', ['acme=HOST:443']],
  ['https://{settings.host}:{settings.port}', ['acme=HOST:PORT']],
  ['https://{settings.name}.corp', ['acme=HOST:443']],
])('a request to %s may need %j', (url, entries) => {
  expect(entriesOf(web(url))).toEqual(entries.map((one) => `KEYWAY_PRIVATE_EGRESS: ${one}`))
})

test('each server is named once, and ten at most', () => {
  const twice = web('{settings.base_url}/users', '{settings.base_url}/groups')
  expect(entriesOf(twice)).toEqual(['KEYWAY_PRIVATE_EGRESS: acme=HOST:PORT'])
  const many = web(...Array.from({ length: 30 }, (_, n) => `https://10.0.0.${n + 1}`))
  expect(entriesOf(many)).toHaveLength(10)
})

const directory = (ldap: string) =>
  manifest({ egress: [{ ldap, base: 'dc=acme', bind: { credential: 'basic' } }] })
const database = (sql: string, dialect = 'postgresql') =>
  manifest({
    egress: [{ sql, dialect, database: 'hr', login: { credential: 'basic' }, statements: ['all'] }],
    statements: { all: { text: 'select 1', reads: true } },
  })

test.each([
  ['ldap://{settings.host}', ['PRIVATE_EGRESS: acme=HOST:389', 'PLAIN_LDAP: acme=HOST:389']],
  ['{settings.url}', ['PRIVATE_EGRESS: acme=HOST:PORT', 'PLAIN_LDAP: acme=HOST:PORT']],
  ['ldaps://{settings.host}', ['PRIVATE_EGRESS: acme=HOST:636']],
  ['ldap://directory.acme.example', ['PLAIN_LDAP: acme=directory.acme.example:389']],
])('a directory at %s may need %j', (address, entries) => {
  expect(entriesOf(directory(address))).toEqual(entries.map((one) => `KEYWAY_${one}`))
})

test.each([
  ['postgresql://{settings.host}', 'postgresql', 'acme=HOST:5432'],
  ['mariadb://{settings.host}', 'mysql', 'acme=HOST:3306'],
])('a database at %s may need both settings', (address, dialect, entry) => {
  expect(entriesOf(database(address, dialect))).toEqual([
    `KEYWAY_PRIVATE_EGRESS: ${entry}`,
    `KEYWAY_PLAIN_SQL: ${entry}`,
  ])
})

test('an entry with a known server is a valid value of the setting', () => {
  const all = [
    web('https://[fd00::5]/x', 'https://10.0.0.5'),
    directory('ldap://dc'),
    database('postgresql://db'),
  ]
  for (const { name, entry } of all.flatMap(hostSettingsOf))
    expect(() => parsePrivateGrants(entry, name)).not.toThrow()
})
