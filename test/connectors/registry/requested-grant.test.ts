import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  restrict,
  uncovered,
  wantsOf,
} from '../../../runtime/connectors/registry/requested-grant.ts'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { manifestOf } from './fixtures/folders.ts'

const parse = (changes: object) => v.parse(Manifest, manifestOf(changes))
const secretTo = (...secrets: string[]) =>
  parse({ egress: [{ url: 'https://api.acme.example', methods: ['GET'], secrets }] })

describe('a grant', () => {
  test('covers the manifest that it was made for', () => {
    const manifest = parse({ limits: { memory_mb: 128 } })
    expect(uncovered(wantsOf(manifest), wantsOf(manifest))).toEqual([])
  })

  test.each([
    ['covers a lower limit', { limits: { memory_mb: 128 } }, { limits: { memory_mb: 64 } }, 0],
    [
      'does not cover a higher limit',
      { limits: { memory_mb: 64 } },
      { limits: { memory_mb: 128 } },
      1,
    ],
    [
      'does not cover a new capability with its egress',
      {},
      { capabilities: { validate_credentials: {}, get_account: {} } },
      3,
    ],
  ])('%s', (_name, before, next, count) => {
    expect(uncovered(wantsOf(parse(next)), wantsOf(parse(before)))).toHaveLength(count)
  })

  test.each([
    ['covers no secret where one is granted', secretTo(), secretTo('settings.a'), 0],
    ['does not cover a secret where none is granted', secretTo('settings.a'), secretTo(), 1],
    ['does not cover another secret', secretTo('settings.a'), secretTo('settings.b'), 1],
    ['covers one of two secrets', secretTo('settings.a'), secretTo('settings.b', 'settings.a'), 0],
  ])('%s', (_name, next, before, count) => {
    expect(uncovered(wantsOf(next), wantsOf(before))).toHaveLength(count)
  })
})

describe('a partly granted manifest', () => {
  const manifest = parse({
    capabilities: { validate_credentials: {}, create_account: {} },
    egress: [{ url: 'https://api.acme.example' }, { url: 'https://files.acme.example' }],
    clear_secrets: [{ field: 'token.token', because: 'It has to be hashed.' }],
    limits: { memory_mb: 128, deadline_ms: 1000 },
  })
  const without = (...texts: string[]) =>
    restrict(
      manifest,
      wantsOf(manifest).filter(
        ({ kind, subject, words }) =>
          !texts.some((text) => [`${kind} ${subject}`, `${kind} ${words}`].includes(text)),
      ),
    )

  test('is unchanged when all is granted', () => {
    expect(restrict(manifest, wantsOf(manifest))).toBe(manifest)
  })

  test('loses an origin that is not granted, and keeps the others', () => {
    const { capabilities, egress } = without('egress https://files.acme.example')
    expect(capabilities['validate_credentials']?.egress).toEqual([
      { url: 'https://api.acme.example', methods: ['GET', 'HEAD'] },
    ])
    expect(egress).toEqual([])
  })

  test('keeps only the methods that are granted', () => {
    const { capabilities } = without('egress DELETE https://api.acme.example')
    const [rule] = capabilities['create_account']?.egress ?? []
    expect(rule).toMatchObject({
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS'],
    })
  })

  test('loses capabilities and clear secrets that are not granted', () => {
    const left = without('capability create_account', 'clear_secret token.token')
    expect(Object.keys(left.capabilities)).toEqual(['validate_credentials'])
    expect(left.clear_secrets).toEqual([])
  })

  test('has as much of a limit as was granted', () => {
    const granted = wantsOf(manifest).map((one) =>
      one.subject === 'memory_mb' ? { ...one, amount: 64 } : one,
    )
    expect(restrict(manifest, granted).limits).toMatchObject({ memory_mb: 64, deadline_ms: 1000 })
  })

  test('has at most the default of a limit that is not granted', () => {
    const { limits } = without('limit memory_mb', 'limit deadline_ms')
    expect(limits).toMatchObject({ memory_mb: 64, deadline_ms: 1000 })
  })

  test('without any grant can send nothing', () => {
    const { capabilities, egress, clear_secrets } = restrict(manifest, [])
    expect([capabilities, egress, clear_secrets]).toEqual([{}, [], []])
  })
})

describe('statements of a database', () => {
  const database = (text: string, rule: object = {}) =>
    parse({
      authentication_schema: { kind: 'basic' },
      egress: [
        {
          sql: 'postgresql://db.example',
          dialect: 'postgresql',
          database: 'hr',
          login: { credential: 'auth' },
          ...rule,
        },
      ],
      statements: {
        read: { text: 'select 1', reads: true },
        write: { text },
      },
      capabilities: { list_accounts: {}, create_account: {} },
    })
  const manifest = database('drop role x')

  test('are requested one by one with their texts, for the capabilities that may use them', () => {
    const wanted = wantsOf(manifest).filter(({ kind }) => kind === 'egress')
    expect(wanted.map(({ subject, words }) => [subject, words])).toEqual([
      ['postgresql://db.example', expect.stringMatching(/^read .* only reading: select 1$/)],
      ['postgresql://db.example', expect.stringMatching(/^read /)],
      ['postgresql://db.example', expect.stringMatching(/^write .* writing: drop role x$/)],
    ])
  })

  test.each([
    ['are requested again with another text', database('drop role y'), 1],
    ['are requested again with another database', database('drop role x', { database: 'crm' }), 3],
    [
      'are not requested again if they are fewer',
      database('drop role x', { statements: ['read'] }),
      0,
    ],
  ])('%s', (_what, next, count) => {
    expect(uncovered(wantsOf(next), wantsOf(manifest))).toHaveLength(count)
  })

  test('are removed when they are not granted', () => {
    const granted = wantsOf(manifest).filter(({ words }) => !words.startsWith('write '))
    const { capabilities } = restrict(manifest, granted)
    expect(capabilities['create_account']?.egress).toMatchObject([{ statements: ['read'] }])
  })
})

const login = {
  request: {
    method: 'POST',
    url: 'https://id.acme.example/login',
    json: { key: '{token.token}' },
  },
  capture: { json: '/token' },
  use: { header: 'authorization' },
}

test('a login that is not granted leaves no address to log in at', () => {
  const manifest = parse({
    egress: [{ url: 'https://api.acme.example' }, { url: 'https://id.acme.example' }],
    exchange: login,
  })
  const wants = wantsOf(manifest)
  expect(wants.find(({ kind }) => kind === 'login')).toMatchObject({
    subject: 'https://id.acme.example',
    words: 'POST https://id.acme.example/login',
  })
  const left = restrict(
    manifest,
    wants.filter(({ kind }) => kind !== 'login'),
  )
  expect(left.egress).toEqual([])
  expect(
    restrict(
      manifest,
      wants.filter(({ kind }) => kind !== 'limit'),
    ).egress,
  ).toHaveLength(2)
})

test('a login without other grants can reach only its own origin', () => {
  const manifest = parse({
    egress: [{ url: 'https://api.acme.example' }, { url: 'https://id.acme.example' }],
    exchange: login,
  })
  const granted = wantsOf(manifest).filter(({ kind }) => kind !== 'egress')
  expect(restrict(manifest, granted).egress).toEqual([{ url: 'https://id.acme.example' }])
})
