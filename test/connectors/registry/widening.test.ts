import * as v from 'valibot'
import { expect, test } from 'vitest'
import { widening } from '../../../runtime/connectors/registry/widening.ts'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { manifestOf } from './fixtures/folders.ts'

const parse = (changes: object) => v.parse(Manifest, manifestOf(changes))
const at = (...rules: object[]) => ({ egress: rules })
const api = { url: 'https://api.acme.example' }
const host = { url: 'https://{settings.host}' }
const hostBy = (field: object) => ({
  ...at(host),
  settings: { host: { type: 'string', ...field } },
})
const reads = (more: object) => ({ capabilities: { list_accounts: more } })

const CASES: [string, object, object, string[]][] = [
  ['no change', {}, {}, []],
  ['another version', {}, { version: '2.0.0', name: 'New' }, []],
  ['fewer addresses', at(api, { url: 'https://b.example' }), at(api), []],
  ['another order', at(api, host), at(host, api), []],
  [
    'an added address',
    at(api),
    at(api, { url: 'https://b.example' }),
    ['GET https://b.example', 'HEAD https://b.example'],
  ],
  [
    'a wider path',
    at({ url: 'https://a.example/v1' }),
    at({ url: 'https://a.example' }),
    ['GET https://a.example', 'HEAD https://a.example'],
  ],
  [
    'an added method',
    at(api),
    at({ ...api, methods: ['GET', 'POST'] }),
    ['POST https://api.acme.example'],
  ],
  ['a removed method', at(api), at({ ...api, methods: ['GET'] }), []],
  [
    'a read that sends POST',
    reads({}),
    reads({ reads_with: ['POST'], because: 'It is a search.' }),
    ['POST https://api.acme.example'],
  ],
  [
    'an added capability: its whole egress',
    reads({}),
    { capabilities: { list_accounts: {}, get_account: {} } },
    ['GET https://api.acme.example', 'HEAD https://api.acme.example'],
  ],
  ['a removed capability', { capabilities: { list_accounts: {}, get_account: {} } }, reads({}), []],
  [
    'a capability with its own egress',
    reads({}),
    reads({ egress: [{ url: 'https://b.example', methods: ['GET'] }] }),
    ['GET https://b.example'],
  ],
  [
    'a setting without its pattern',
    hostBy({ pattern: '(eu|us).acme.example' }),
    hostBy({ format: 'hostname' }),
    ['GET https://{settings.host}', 'HEAD https://{settings.host}'],
  ],
  [
    'a setting with an added value',
    hostBy({ enum: ['a.example'] }),
    hostBy({ enum: ['a.example', 'b.example'] }),
    ['GET https://{settings.host}', 'HEAD https://{settings.host}'],
  ],
  ['a setting with another title', hostBy({ title: 'A' }), hostBy({ title: 'B' }), []],
  [
    'secrets to an address that got none',
    at({ ...api, methods: ['GET'], secrets: ['settings.a'] }),
    at({ ...api, methods: ['GET'] }),
    ['GET https://api.acme.example'],
  ],
  [
    'a readable secret',
    {},
    { clear_secrets: [{ field: 'token.token', because: 'It has to be hashed.' }] },
    ['sees token.token in clear: "It has to be hashed."'],
  ],
]

test.each(CASES)('the access that a change adds: %s', (_name, before, next, wants) => {
  expect(widening(parse(before), parse(next))).toEqual(wants)
})
