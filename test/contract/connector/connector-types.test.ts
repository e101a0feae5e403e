import * as v from 'valibot'
import { expect, test } from 'vitest'
import { connectorTypes } from '../../../runtime/contract/connector/connector-types.ts'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'

const manifest = (rest: object) =>
  v.parse(Manifest, { id: 'a', version: '1.0.0', runtime: '^1.0.0', capabilities: {}, ...rest })

test('types are written for one credential, settings, and capabilities with their own fields', () => {
  const text = connectorTypes(
    manifest({
      authentication_schema: { kind: 'basic' },
      settings: {
        base_url: { type: 'string', required: true },
        mode: { type: 'string', enum: ["it's", 'a "b"\\'], default: "it's" },
        size: { type: 'integer' },
        deep: { type: 'boolean', default: false },
      },
      capabilities: {
        get_account: {},
        create_account: {
          request_fields: { title: { type: 'string' }, age: { type: 'integer', required: true } },
          response_fields: { title: { type: 'string' } },
        },
      },
    }),
  )
  expect(text).toBe(`// Written by Keyway from connector.json; do not edit.
export type Connector = {
  auth: 'basic'
  settings: {
    base_url: string
    mode: 'it\\'s' | 'a "b"\\\\'
    size?: number
    deep: boolean
  }
  capabilities: {
    get_account: unknown
    create_account: {
      request: {
        title?: string
        age: number
      }
      response: {
        title?: string | null | undefined
      }
    }
  }
}
`)
})

test('types are written for several credentials and no settings', () => {
  const text = connectorTypes(
    manifest({
      credentials: [
        { id: 'api', kind: 'token' },
        { id: 'sci-m', kind: 'oauth', optional: true },
      ],
    }),
  )
  expect(text).toContain("  credentials: {\n    api: 'token'\n    'sci-m'?: 'oauth'\n  }\n")
  expect(text).toContain('  settings: object\n  capabilities: object\n')
  expect(text).not.toContain('auth:')
})

test('no text of a manifest escapes from its quotes', () => {
  const text = connectorTypes(
    manifest({
      settings: { a: { type: 'string', enum: ["'; evil()\n//", '\u2028', '\\'] } },
      capabilities: { "x': y() //\n": {} },
    }),
  )
  expect(text).toContain("a?: '\\'; evil()\\n//' | '\u2028' | '\\\\'")
  expect(text).toContain("'x\\': y() //\\n': unknown")
})
