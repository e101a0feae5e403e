/** The form that connects an app: its fields, and the connection that is read from them. */
import { expect, test } from 'vitest'
import { AUTHENTICATION, RENEWAL } from '../../../runtime/contract/connector/authentication.ts'
import type { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { CoreError } from '../../../runtime/contract/errors/problem.ts'
import { connectionIn, fieldGroupsOf } from '../../../runtime/http/console/connect-fields.ts'
import { connectionSchemaOf } from '../../../runtime/http/schemas/connection-schema.ts'
import { CONSOLE_CONNECT } from '../../../runtime/words/console-connect.ts'

const noJson = () => new CoreError('invalid', 'no JSON')
const always = () => true

const manifest = (parts: object): Manifest =>
  // The cast: only the parts of a manifest that describe the connection are read.
  ({ id: 'acme', settings: {}, ...parts }) as unknown as Manifest

const groups = (parts: object) => fieldGroupsOf(connectionSchemaOf(manifest(parts)))

test('every kind of credentials has fields, including secrets, with titles in the catalogue', () => {
  const { fields: words } = CONSOLE_CONNECT.connect.de
  for (const kind of Object.keys(AUTHENTICATION)) {
    const [group] = groups({ authentication_schema: { kind }, oauth: {} })
    expect(
      group?.fields.some(({ isSecret }) => isSecret),
      kind,
    ).toBe(true)
    for (const { title } of group?.fields ?? []) expect(words, kind).toHaveProperty(title)
  }
  expect(Object.keys(RENEWAL.entries).length).toBeGreaterThan(0)
})

test('values are read back with the types of the connection', () => {
  const settings = {
    base_url: { type: 'string', required: true },
    deep: { type: 'boolean', default: true },
    most: { type: 'integer', default: 7 },
    region: { type: 'string', enum: ['eu', 'us'] },
    pin: { type: 'string', secret: true },
  }
  const all = groups({ authentication_schema: { kind: 'service_account' }, settings })
  const given = Object.fromEntries(
    all.flatMap(({ fields }) => fields.map(({ name, given }) => [name, given])),
  )
  expect(given).toMatchObject({
    'settings.most': '7',
    'settings.deep': 'true',
    'secret.settings.pin': '',
    'auth.service_type': 'google_cloud',
  })
  const form = new Map([
    ['secret.auth.key', '{"type":"service_account"}'],
    ['auth.scopes', 'read, write'],
    ['auth.tenant_id', ' t '],
    ['settings.base_url', 'https://acme.example'],
    ['settings.most', '12'],
    ['secret.settings.pin', ' 1 '],
  ])
  expect(connectionIn(all, form, always, noJson)).toEqual({
    auth: {
      key: { type: 'service_account' },
      // The member is required, and a connector may accept it empty.
      impersonation_email: '',
      scopes: ['read', 'write'],
      tenant_id: 't',
    },
    settings: { base_url: 'https://acme.example', most: 12, deep: false, pin: ' 1 ' },
  })
  form.set('settings.most', 'many')
  expect(connectionIn(all, form, always, noJson).settings?.['most']).toBe('many')
  form.set('secret.auth.key', '{')
  expect(() => connectionIn(all, form, always, noJson)).toThrow('no JSON')
})

test('each of several credentials has its own group, and omitted credentials are not sent', () => {
  const credentials = [
    { id: 'token', kind: 'token', optional: true },
    { id: 'login', kind: 'basic', title: 'Log in', optional: true },
  ]
  const all = groups({ credentials })
  expect(all.map(({ id, title, isOptional }) => [id, title, isOptional])).toEqual([
    ['token', '', true],
    ['login', 'Log in', true],
  ])
  const form = new Map([['secret.auth.token.token', 'x']])
  const isAsked = ({ id }: { id: string }) => id === 'token'
  expect(connectionIn(all, form, isAsked, noJson)).toEqual({ auth: { token: { token: 'x' } } })
})
