import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { CASE_FIELDS } from '../../../runtime/http/documents/case-fields.ts'
import { MANIFEST_FIELDS } from '../../../runtime/http/documents/manifest-fields.ts'
import {
  casesJsonSchema,
  manifestJsonSchema,
} from '../../../runtime/http/documents/manifest-schema.ts'
import { schemaFields } from '../../../scripts/schema-fields.ts'
import { BUILT_IN } from '../../kit/built-in.ts'
import { createAjv } from './judges.ts'

const schema = manifestJsonSchema()
const judge = createAjv().compile(schema)
const valid = {
  id: 'acme',
  version: '1.0.0',
  runtime: '^1.0.0',
  authentication_schema: { kind: 'token' },
  capabilities: { list_accounts: {} },
}

test.each([...BUILT_IN.map((name) => `plugins/${name}`), 'plugin-template'])(
  'accepts the manifest of %s',
  (folder) => {
    const file = new URL(`../../../${folder}/connector.json`, import.meta.url)
    judge(JSON.parse(readFileSync(file, 'utf8')))
    expect(judge.errors).toBeNull()
  },
)

test.each([
  [{ id: 'Acme' }],
  [{ colour: 'red' }],
  [{ authentication_schema: { kind: 'magic' } }],
  [{ settings: { base_url: { type: 'text' } } }],
  [{ settings: { 'Base Url': { type: 'string' } } }],
  [{ egress: [{ url: 'https://a.example', methods: ['FETCH'] }] }],
  [{ limits: { memory_mb: 1 } }],
])('refuses what the runtime refuses: %j', (change) => {
  expect(judge({ ...valid, ...change })).toBe(false)
  expect(v.safeParse(Manifest, { ...valid, ...change }).success).toBe(false)
  expect(judge(valid)).toBe(true)
})

test('refuses unknown capabilities', () => {
  expect(judge({ ...valid, capabilities: { list_account: {} } })).toBe(false)
})

/** Members that are described at another path of the table. */
const ELSEWHERE =
  /^credentials\.(oauth|fields)\.|^capabilities\.\*\.(egress\.|(request|response)_fields\.\*)/

test('describes every field, and no field that does not exist', () => {
  const fields = schemaFields(schema).map(({ path }) => path)
  expect(fields.filter((path) => !ELSEWHERE.test(path)).sort()).toEqual(
    Object.keys(MANIFEST_FIELDS).sort(),
  )
  const text = JSON.stringify(schema)
  for (const [path, words] of Object.entries(MANIFEST_FIELDS)) {
    expect(text, path).toContain(JSON.stringify(words))
  }
})

test('describes the fields that a capability adds like settings', () => {
  const at = (...names: string[]) =>
    names.reduce<Record<string, unknown>>(
      (one, name) => one[name] as Record<string, unknown>,
      schema as Record<string, unknown>,
    )
  const added = at('properties', 'capabilities', 'additionalProperties', 'properties')
  expect(JSON.stringify(added['request_fields'])).toContain(MANIFEST_FIELDS['settings.*.secret'])
})

test('describes OAuth and egress wherever they may be declared', () => {
  const text = JSON.stringify(schema)
  // Hosts, directories and databases may have secrets, for the connector and for a capability.
  const places = { 'oauth.token_url': 2, 'oauth.request.data': 2, 'egress.secrets': 6 } as const
  for (const [path, count] of Object.entries(places))
    expect(
      text.split(JSON.stringify(MANIFEST_FIELDS[path as keyof typeof places])).length - 1,
      path,
    ).toBe(count)
})

/** Paths of all members of a schema; `*` stands for any name. */
function paths(one: Record<string, unknown>, path = ''): string[] {
  const {
    properties = {},
    items,
    anyOf = [],
    additionalProperties: rest,
  } = one as {
    properties?: Record<string, Record<string, unknown>>
    items?: Record<string, unknown>
    anyOf?: Record<string, unknown>[]
    additionalProperties?: boolean | Record<string, unknown>
  }
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      at(name),
      ...paths(member, at(name)),
    ]),
    ...[...anyOf, ...(items ? [items] : [])].flatMap((inner) => paths(inner, path)),
    ...(typeof rest === 'object' ? paths(rest, at('*')) : []),
  ]
}

test('describes every field of a case, also within a page and in a shared exchange', () => {
  const cases = casesJsonSchema()
  const fields = paths(cases)
    .map((path) => path.replace(/^cases\./, '').replace(/^pages\./, ''))
    .map((path) => path.replace(/^exchanges\.\*/, 'upstream'))
    .filter((path) => path !== '$schema')
  expect([...new Set(fields)].sort()).toEqual(Object.keys(CASE_FIELDS).sort())
  const words =
    JSON.stringify(cases).split(JSON.stringify(CASE_FIELDS['upstream.request'])).length - 1
  // For a case and for its pages, each in a list and in an object, and once for all cases.
  expect(words).toBe(5)
})

const judgeCases = createAjv().compile(casesJsonSchema())

test.each([
  ...BUILT_IN.map((name) => `plugins/${name}`),
  'plugin-template',
  'test/fixtures/readme',
])('accepts the cases of %s', (folder) => {
  const file = new URL(`../../../${folder}/connector.cases.json`, import.meta.url)
  judgeCases(JSON.parse(readFileSync(file, 'utf8')))
  expect(judgeCases.errors).toBeNull()
})

test('accepts a default that a case overrides with null, and refuses an unknown default', () => {
  const file = {
    defaults: { settings: {} },
    cases: [{ name: 'a', capability: 'b', settings: null }],
  }
  expect(judgeCases(file)).toBe(true)
  expect(judgeCases({ ...file, defaults: { setting: {} } })).toBe(false)
})
