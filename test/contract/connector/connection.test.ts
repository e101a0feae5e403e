import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  type Connection,
  identityOf,
  parseSettings,
} from '../../../runtime/contract/connector/connection.ts'
import type { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import {
  CATEGORIES,
  categoryCode,
  categoryOf,
  firstCategory,
} from '../../../runtime/contract/models/categories.ts'

const manifest = {
  settings: {
    host: { type: 'string' },
    pin: { type: 'string', secret: true },
    added: { type: 'integer' },
  },
} as unknown as Manifest

const identity = (connection: object): string =>
  JSON.stringify(identityOf(manifest, connection as Connection))

describe('the identity of a tenant', () => {
  const settings = { host: 'a.example', pin: '1234' }
  const auth = { basic: { username: 'robot', password: 'first' } }
  const one = identity({ auth, settings })

  test.each([
    [
      'a secret of the credentials',
      { auth: { basic: { username: 'robot', password: 'x' } }, settings },
    ],
    ['a secret setting', { auth, settings: { ...settings, pin: '9' } }],
    ['the order of settings', { auth, settings: { pin: '1234', host: 'a.example' } }],
    ['an undefined setting', { auth, settings: { ...settings, added: undefined } }],
  ])('does not change with %s', (_, connection) => {
    expect(identity(connection)).toBe(one)
  })

  test.each([
    ['a setting', { auth, settings: { ...settings, host: 'b.example' } }],
    [
      'the user name of the credentials',
      { auth: { basic: { username: 'r2', password: 'first' } }, settings },
    ],
  ])('changes with %s', (_, connection) => {
    expect(identity(connection)).not.toBe(one)
  })

  test('does not depend on the order of several credentials, and contains no secret', () => {
    const api = { id: 'api', token: { token: 'a-secret' } }
    const admin = { id: 'admin', basic: { username: 'root', password: 'a-secret' } }
    const both = identity({ credentials: [api, admin], settings })
    expect(identity({ credentials: [admin, api], settings })).toBe(both)
    expect(both).toContain('root')
    expect(both).not.toMatch(/a-secret|1234/)
  })
})

test('an unknown setting is reported, with a suggestion', () => {
  const parsed = parseSettings(manifest, v.object({}), { hots: 'a.example', colour: 'red' })
  expect(parsed).toMatchObject({
    findings: 'settings.hots: there is no such setting; settings.colour: there is no such setting',
  })
  const near = parseSettings(manifest, v.object({}), { hosts: 'a.example' })
  expect(near).toMatchObject({
    findings: 'settings.hosts: there is no such setting; did you mean host?',
  })
})

describe('categories', () => {
  test.each(CATEGORIES)('%s is found by its label and by its code', (label) => {
    expect([categoryOf(label), categoryOf(categoryCode(label))]).toEqual([label, label])
  })

  test.each(['', 'Cooking', 'constructor', 'HR', 'HR_AND_LEARNING_'])(
    '"%s" is not a category',
    (text) => {
      expect(categoryOf(text)).toBeNull()
    },
  )

  test('of a connector are reduced to the first known one, or Other', () => {
    expect(firstCategory(['X_Y', 'HR_AND_LEARNING', 'OTHER'])).toBe('HR & Learning')
    expect(firstCategory(['X_Y'])).toBe('Other')
    expect(firstCategory([])).toBeNull()
  })
})
