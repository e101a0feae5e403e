import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { connectorRoutes } from '../../../runtime/http/connectors/connectors.ts'
import type { CallEnd } from '../../../runtime/invoke/ports.ts'
import { manifestOf } from '../../connectors/registry/fixtures/folders.ts'

function open(invoke = vi.fn(), isLooking = false) {
  const manifest = v.parse(Manifest, manifestOf({ logo: 'logo.svg' }))
  const calls: CallEnd[] = []
  const logo = vi.fn(async (digest: string) => `data:${digest}`)
  const routes = connectorRoutes({
    connectorsPath: '/connectors',
    ids: () => ['acme'],
    find: (id) => (id === 'acme' ? { id, version: '1.0.0', digest: 'd', manifest } : null),
    isLooking: () => isLooking,
    logo,
    invoke,
    generation: () => 0,
    onCall: (call) => void calls.push(call),
  })
  routes.onError((_error, c) => c.text('failed', 500))
  const post = (at: string) =>
    routes.request(at, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
  return { routes, post, calls, logo }
}

test('info returns the logo of the version, and reads it once', async () => {
  const { routes, logo } = open()
  for (const method of ['GET', 'POST']) {
    const answer = await routes.request('/acme/info', { method })
    expect(answer.headers.get('x-keyway-connector')).toBe('acme@1.0.0')
    expect(await answer.json()).toMatchObject({ response: { logo_url: 'data:d' } })
  }
  expect(logo).toHaveBeenCalledExactlyOnceWith('d')
})

test('an unknown connector is reported as not there yet while connectors are being discovered', async () => {
  const messageFor = async (isLooking: boolean) => {
    const { routes } = open(vi.fn(), isLooking)
    let words = ''
    routes.onError((error, c) => {
      words = error.message
      return c.text('failed', 500)
    })
    await routes.request('/other/info')
    return words
  }
  expect(await messageFor(false)).toBe('there is no connector "other"')
  expect(await messageFor(true)).toMatch(/^there is no connector "other" yet: .*GET \/readyz/)
})

describe('a finished call is reported', () => {
  const refused = (code: 'connector_threw' | 'capability_unknown') =>
    vi.fn().mockRejectedValue(new RuntimeError(code, 'no'))

  test('with its error', async () => {
    const { post, calls } = open(refused('connector_threw'))
    await post('/acme/validate_credentials')
    expect(calls).toMatchObject([
      {
        connector: 'acme',
        capability: 'validate_credentials',
        known: true,
        error: expect.objectContaining({ code: 'connector_threw' }),
        seconds: expect.any(Number),
        cause: { kind: 'interface' },
        appId: null,
      },
    ])
  })

  test.each(['/acme/fly', '/other/list_accounts'])('as unknown: %s', async (at) => {
    const { post, calls } = open(refused('capability_unknown'))
    await post(at)
    expect(calls).toMatchObject([{ known: false, error: { code: 'capability_unknown' } }])
  })

  test('without an error if it succeeded', async () => {
    const { post, calls } = open(vi.fn(async () => ({ body: Buffer.from('{}'), served: 'acme@1' })))
    await post('/acme/list_accounts')
    expect(calls).toMatchObject([{ capability: 'list_accounts', known: true, error: null }])
  })

  test('with an internal error if the runtime threw', async () => {
    const { post, calls } = open(vi.fn().mockRejectedValue(new TypeError('x')))
    await post('/acme/list_accounts')
    expect(calls).toMatchObject([{ error: { code: 'internal' } }])
  })
})
