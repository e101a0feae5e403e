import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { Manifest } from '../../../../runtime/contract/connector/manifest.ts'
import { flatSchema } from '../../../../runtime/contract/connector/settings.ts'
import { checkedConnection } from '../../../../runtime/core/catalogue/apps/credentials.ts'
import type { ServedConnector } from '../../../../runtime/core/kernel/context/connectors.ts'

const HOME = { base_url: 'https://home.example/api', tenant: 'home' }
const AWAY = { base_url: 'https://away.example/api', tenant: 'home' }
const URL_TEXT = '{settings.base_url}/v1'

const oauth = (own: object) => ({
  token_url: 'https://login.example/token',
  authorization_url: 'https://login.example/authorize',
  ...own,
})
const several = (own: object) => ({
  authentication_schema: undefined,
  credentials: [{ id: 'api', kind: 'oauth', oauth: oauth(own) }],
})
const exchange = (own: object) => ({
  exchange: {
    request: { url: 'https://login.example/login', json: {}, ...own },
    capture: { header: 'x-token' },
    use: { header: 'x-token' },
  },
})

function connector(own: object): ServedConnector {
  const manifest = v.parse(Manifest, {
    id: 'acme',
    version: '1.0.0',
    runtime: '^1.0.0',
    authentication_schema: { kind: 'token' },
    settings: {
      base_url: { type: 'string', format: 'url' },
      tenant: { type: 'string' },
      page_size: { type: 'integer' },
    },
    capabilities: { list_accounts: {} },
    ...own,
  })
  const settings = flatSchema(manifest.settings)
  return { id: 'acme', version: '1.0.0', digest: '', manifest, settings }
}

/** Checks a change of settings alone, with the stored credentials. */
function change(own: object, before: object, after: object) {
  const kind = 'credentials' in own ? 'several' : 'one'
  const kept =
    kind === 'one'
      ? { auth: { token: { token: 'kept' } } }
      : { credentials: [{ id: 'api', oauth: { access_token: 'kept' } }] }
  const connection = { ...kept, settings: { ...before } }
  return () =>
    checkedConnection(
      connector(own),
      { auth: undefined, settings: { ...after } },
      connection as never,
    )
}

const refusal = expect.objectContaining({
  kind: 'bad_request',
  detail: expect.stringContaining('auth: send it again'),
})

describe('stored credentials are refused when a changed setting is used in', () => {
  test.each([
    ['egress', { egress: [{ url: URL_TEXT }] }],
    [
      'the egress of a capability',
      { capabilities: { list_accounts: { egress: [{ url: URL_TEXT }] } } },
    ],
    ['oauth.token_url', { oauth: oauth({ token_url: URL_TEXT }) }],
    ['oauth.authorization_url', { oauth: oauth({ authorization_url: URL_TEXT }) }],
    ['the token_url of one of several credentials', several({ token_url: URL_TEXT })],
    [
      'the authorization_url of one of several credentials',
      several({ authorization_url: URL_TEXT }),
    ],
    ['the address of an exchange', exchange({ url: URL_TEXT })],
    ['a header of an exchange', exchange({ headers: { 'x-audience': URL_TEXT } })],
    ['the JSON of an exchange', exchange({ json: { for: [{ audience: '{settings.base_url}' }] } })],
    ['the form of an exchange', exchange({ form: { aud: '{settings.base_url}' } })],
  ])('%s', (_where, own) => {
    expect(change(own, HOME, HOME)).not.toThrow()
    expect(change(own, HOME, AWAY)).toThrow(refusal)
  })

  test('the path of an address', () => {
    const own = { egress: [{ url: 'https://shared.example/{settings.tenant}/api' }] }
    expect(change(own, HOME, { ...HOME, tenant: 'away' })).toThrow(refusal)
  })

  test('any place, if the connector has wildcard egress', () => {
    const own = { egress: [{ url: 'https://*.acme.example' }] }
    expect(change(own, HOME, { ...HOME, page_size: 5 })).toThrow(refusal)
  })

  test('an address whose setting had no value before', () => {
    const own = { egress: [{ url: 'https://home.example' }, { url: URL_TEXT }] }
    expect(change(own, {}, AWAY)).toThrow(refusal)
  })

  test('addresses for different secrets, and two values are swapped', () => {
    const own = {
      egress: [
        { url: 'https://{settings.base_url}', secrets: ['auth'] },
        { url: 'https://{settings.tenant}', secrets: ['request'] },
      ],
      settings: {
        base_url: { type: 'string', format: 'hostname' },
        tenant: { type: 'string', format: 'hostname' },
      },
    }
    const [a, b] = ['a.example', 'b.example']
    expect(change(own, { base_url: a, tenant: b }, { base_url: b, tenant: a })).toThrow(refusal)
  })
})

test('the refusal names the settings that change an address, but no values', () => {
  const own = { egress: [{ url: URL_TEXT }] }
  expect(change(own, HOME, { ...AWAY, page_size: 5 })).toThrow(
    expect.objectContaining({
      detail: expect.stringMatching(/^(?!.*away\.example).*settings\.base_url(?!.*page_size)/),
    }),
  )
})

describe('stored credentials are accepted with', () => {
  const own = { egress: [{ url: URL_TEXT }] }

  test('a changed setting that is used in no address', () => {
    expect(change(own, HOME, { ...HOME, page_size: 5 })).not.toThrow()
  })

  test('the same address in another spelling', () => {
    const inOtherCase = { ...HOME, base_url: 'https://HOME.example/api/' }
    expect(change(own, HOME, inOtherCase)).not.toThrow()
  })

  test('a setting that a later version of the connector added, at its default', () => {
    const settings = {
      base_url: { type: 'string', format: 'url' },
      web_url: { type: 'string', format: 'url', default: 'https://web.example' },
    }
    const later = { settings, egress: [{ url: URL_TEXT }, { url: '{settings.web_url}' }] }
    const { base_url } = HOME
    expect(change(later, { base_url }, { base_url })).not.toThrow()
  })

  test('an address setting that was removed', () => {
    expect(change(own, HOME, { tenant: 'home' })).not.toThrow()
  })
})
