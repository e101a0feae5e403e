import { describe, expect, test } from 'vitest'
import { connectorDocument } from '../../../runtime/http/documents/app-document.ts'
import { operationsOf } from '../../../runtime/http/documents/document.ts'
import { infoOf } from '../../../runtime/http/documents/info.ts'
import { compile, openApiFindings } from './judges.ts'
import { manifestOf, rich, several } from './manifests.ts'

const all = [
  ['rich', rich],
  ['several', several],
  ['plugins/scim', manifestOf('plugins/scim')],
  ['plugin-template', manifestOf('plugin-template')],
] as const

describe.each(all)('the document of %s', (_, manifest) => {
  const document = connectorDocument(manifest, { connectorsPath: '/connectors' })
  const operations = operationsOf(document)

  test('is a valid OpenAPI 3.1 document', async () => {
    expect(await openApiFindings(document)).toEqual([])
  })

  test('has components that compile strictly', () => {
    for (const schema of Object.values(document.components.schemas)) {
      expect(() => compile(document, schema)).not.toThrow()
    }
  })

  test('has the connector’s own capabilities at its own address', () => {
    const names = operations
      .map(({ operation }) => operation.operationId)
      .filter((name) => name !== 'info' && name !== 'info_get')
    expect(names.sort()).toEqual(infoOf(manifest, { logoUrl: null }).capabilities)
    for (const { path } of operations) expect(path).toMatch(`/connectors/${manifest.id}/`)
  })

  test('shows examples that fit its own requests', () => {
    const bodies = operations.flatMap(
      ({ operation }) => operation.requestBody?.content['application/json'] ?? [],
    )
    // Only GET of info has no body.
    expect(bodies).toHaveLength(operations.length - 1)
    for (const body of bodies) {
      const judge = compile(document, body.schema)
      judge(body.example)
      expect(judge.errors).toBeNull()
    }
  })
})

const judgeOf = (manifest: typeof rich, name: string) => {
  const document = connectorDocument(manifest, { connectorsPath: '/c' })
  const { requestBody } = document.paths[`/c/${manifest.id}/${name}`]?.post ?? {}
  return compile(document, requestBody?.content['application/json']?.schema ?? {})
}

test('a request requires the connector’s own credential, settings and fields', () => {
  const judge = judgeOf(rich, 'create_account')
  const auth = {
    oauth_client_credentials: {
      access_token: 'a',
      client_id: 'b',
      client_secret: 'c',
      scopes: [],
    },
  }
  const settings = { base_url: 'https://acme.example', team: null }
  const request = { entitlements: [], department: 'R&D' }
  expect(judge({ auth, settings, request })).toBe(true)
  expect(judge({ settings, request })).toBe(false)
  expect(judge({ auth: { token: { token: 't' } }, settings, request })).toBe(false)
  expect(judge({ auth, request })).toBe(false)
  expect(judge({ auth, settings, request: { entitlements: [] } })).toBe(false)
})

test('a request requires every credential that is not optional', () => {
  const judge = judgeOf(several, 'validate_credentials')
  const api = { id: 'api', token: { token: 't' } }
  const admin = { id: 'admin', basic: { username: 'u', password: 'p' } }
  expect(judge({ credentials: [api, admin], request: {} })).toBe(true)
  expect(judge({ credentials: [api], request: {} })).toBe(false)
  expect(judge({ credentials: [api, { ...admin, id: 'other' }], request: {} })).toBe(false)
})
