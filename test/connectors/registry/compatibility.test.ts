import * as v from 'valibot'
import { expect, test } from 'vitest'
import { compatibility } from '../../../runtime/connectors/registry/compatibility.ts'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { manifestOf } from './fixtures/folders.ts'

const parse = (changes: object) => v.parse(Manifest, manifestOf(changes))
const setting = (field: object) => ({ settings: { host: { type: 'string', ...field } } })
const role = (changes: object = {}) => ({
  entitlement_types: [
    { type_id: 'role', type_label: 'Role', resource_type_id: 'app', min: 0, ...changes },
  ],
})
const both = { validate_credentials: {}, list_accounts: {} }
const credential = (changes: object) => ({
  authentication_schema: undefined,
  credentials: [{ id: 'api', kind: 'token', ...changes }],
})

const CASES: [string, object, object, [string, string][]][] = [
  ['no change', {}, { name: 'New' }, []],
  ['an added capability', {}, { capabilities: both }, []],
  [
    'a removed capability',
    { capabilities: both },
    {},
    [['breaking', 'capabilities.list_accounts']],
  ],
  [
    'another kind of credentials',
    {},
    { authentication_schema: { kind: 'basic' } },
    [['breaking', 'authentication_schema']],
  ],
  [
    'a credential of another kind',
    credential({}),
    credential({ kind: 'basic' }),
    [['breaking', 'credentials.api']],
  ],
  [
    'an added required credential',
    credential({}),
    {
      ...credential({}),
      credentials: [
        { id: 'api', kind: 'token' },
        { id: 'more', kind: 'token' },
      ],
    },
    [['breaking', 'credentials.more']],
  ],
  [
    'an added optional credential',
    credential({}),
    {
      ...credential({}),
      credentials: [
        { id: 'api', kind: 'token' },
        { id: 'more', kind: 'token', optional: true },
      ],
    },
    [],
  ],
  ['a removed setting', setting({}), {}, [['breaking', 'settings.host']]],
  ['an added setting', {}, setting({}), []],
  ['an added required setting', {}, setting({ required: true }), [['breaking', 'settings.host']]],
  ['an added required setting with a default', {}, setting({ required: true, default: 'a' }), []],
  [
    'a setting that becomes required',
    setting({}),
    setting({ required: true }),
    [['breaking', 'settings.host']],
  ],
  [
    'a setting of another type',
    setting({}),
    { settings: { host: { type: 'integer' } } },
    [['breaking', 'settings.host']],
  ],
  [
    'fewer values',
    setting({ enum: ['a', 'b'] }),
    setting({ enum: ['a'] }),
    [['breaking', 'settings.host']],
  ],
  ['more values', setting({ enum: ['a'] }), setting({ enum: ['a', 'b'] }), []],
  [
    'an added pattern',
    setting({}),
    setting({ pattern: '[a-z]+' }),
    [['breaking', 'settings.host']],
  ],
  ['a removed pattern', setting({ pattern: '[a-z]+' }), setting({}), []],
  [
    'another default',
    setting({ default: 'a' }),
    setting({ default: 'b' }),
    [['notice', 'settings.host']],
  ],
  [
    'narrower bounds',
    { settings: { n: { type: 'integer', max: 9 } } },
    { settings: { n: { type: 'integer', max: 5 } } },
    [['breaking', 'settings.n']],
  ],
  ['a removed entitlement type', role(), {}, [['breaking', 'entitlement_types.role']]],
  [
    'an entitlement type of another resource type',
    role(),
    role({ resource_type_id: 'team' }),
    [['breaking', 'entitlement_types.role']],
  ],
  [
    'a higher minimum of an entitlement type',
    role(),
    role({ min: 1 }),
    [['breaking', 'entitlement_types.role']],
  ],
  ['another label', role(), role({ type_label: 'Duty' }), [['notice', 'entitlement_types.role']]],
]

test.each(CASES)('the compatibility of a change: %s', (_name, before, next, found) => {
  const told = compatibility(parse(before), parse({ ...next, version: '2.0.0' }))
  expect(told.map(({ severity, where }) => [severity, where])).toEqual(found)
  for (const { advice } of told) expect(advice).not.toBe('')
})

test.each([
  ['1.2.0', '1.3.0', 'call it 2.0.0'],
  ['1.2.0', '2.0.0', null],
  ['0.1.0', '0.1.1', 'call it 0.2.0'],
  ['0.1.0', '0.2.0', null],
  ['0.1.0', '1.0.0', null],
  ['0.0.3', '0.0.4', null],
  ['1.2.0', '1.1.0', 'call it 2.0.0'],
  ['0.2.0', '0.1.0', 'call it 0.3.0'],
])(
  'a breaking change from %s to %s is numbered according to semantic versioning',
  (before, next, advice) => {
    const told = compatibility(
      parse({ version: before, capabilities: both }),
      parse({ version: next }),
    )
    const numbered = told.find(({ where }) => where === 'version')
    expect(numbered?.advice ?? null).toBe(advice)
  },
)

test('a breaking change in a minor version is also reported', () => {
  const told = compatibility(parse({ capabilities: both }), parse({ version: '1.1.0' }))
  expect(told.at(-1)).toMatchObject({
    severity: 'notice',
    where: 'version',
    advice: 'call it 2.0.0',
  })
})
