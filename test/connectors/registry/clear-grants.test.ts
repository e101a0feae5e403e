import { describe, expect, test } from 'vitest'
import { parseClearGrants, wantsClear } from '../../../runtime/connectors/registry/clear-grants.ts'
import type { Manifest } from '../../../runtime/contract/connector/manifest.ts'

const manifestWith = (...fields: string[]) =>
  ({
    id: 'acme-crm',
    clear_secrets: fields.map((field) => ({ field, because: 'It has to be hashed.' })),
  }) as unknown as Manifest

test('reads several grants for one connector, in either spelling of its id', () => {
  const grants = parseClearGrants(
    ' acme-crm=token.token\nacme_crm=settings.key other=basic.password ',
  )
  expect(grants).toEqual(
    new Map([
      ['acme_crm', new Set(['token.token', 'settings.key'])],
      ['other', new Set(['basic.password'])],
    ]),
  )
  expect(parseClearGrants('').size).toBe(0)
})

test.each([
  ['acme', 'is not connector_id=field'],
  ['acme=token', 'is not connector_id=field'],
  ['acme=', 'is not connector_id=field'],
  ['acme=*', 'is not connector_id=field'],
  ['Acme=token.token', 'no valid connector id'],
])('refuses %s: %s', (entry, words) => {
  expect(() => parseClearGrants(`ok=a.b ${entry}`)).toThrow(`"${entry}" `)
  expect(() => parseClearGrants(entry)).toThrow(words)
})

describe('a connector that asks for secrets in clear', () => {
  const grants = parseClearGrants('acme_crm=token.token')

  test('waits for secrets that are not granted; the message has its reasons and the setting to write', () => {
    const told = wantsClear(grants, manifestWith('token.token', 'settings.key'))
    expect(told).toContain('settings.key ("It has to be hashed.")')
    expect(told).toContain('KEYWAY_CLEAR_SECRETS="acme-crm=settings.key"')
    expect(told).not.toContain('token.token')
  })

  test('does not wait when all are granted, or none is requested', () => {
    expect(wantsClear(grants, manifestWith('token.token'))).toBeNull()
    expect(wantsClear(grants, manifestWith())).toBeNull()
  })
})
