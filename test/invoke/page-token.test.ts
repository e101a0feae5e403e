import { describe, expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { canonicalJson } from '../../runtime/contract/schema/canonical-json.ts'
import {
  createPageTokens,
  type PageScope,
  type PageTokens,
  TOKEN_LIFETIME_MS,
  type TokenPage,
} from '../../runtime/invoke/page-token.ts'
import { MAX_CURSOR_LENGTH } from '../../runtime/protocol/worker-heads.ts'

const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)]
const page: TokenPage = {
  cursorJson: '{"after":"x€"}',
  size: 5,
  digest: 'd'.repeat(64),
  course: { pages: 3, mark: 'm' },
}
const scope: PageScope = {
  connector: 'acme',
  capability: 'list_accounts',
  request: { custom_attributes: ['a'] },
  settings: { zone: 1, region: 'eu' },
}

const refusal = (tokens: PageTokens, token: string, at: PageScope = scope): string => {
  try {
    tokens.open(token, at)
  } catch (error) {
    expect(error).toBeInstanceOf(RuntimeError)
    expect((error as RuntimeError).code).toBe('page_token_invalid')
    return (error as Error).message
  }
  throw new Error('the token was accepted')
}

const tokens = createPageTokens([NEW])

describe('a token', () => {
  test.each([
    page,
    { ...page, size: null },
    { ...page, cursorJson: '""' },
    { ...page, cursorJson: JSON.stringify('€'.repeat(MAX_CURSOR_LENGTH - 2)) },
    { ...page, cursorJson: JSON.stringify('"'.repeat(MAX_CURSOR_LENGTH / 2 - 1)) },
    { ...page, cursorJson: JSON.stringify('\\'.repeat(MAX_CURSOR_LENGTH / 2 - 1)) },
    { ...page, cursorJson: JSON.stringify('\u0001'.repeat(1365)) },
  ])('opens as it was sealed (%#)', (one) => {
    expect(tokens.open(tokens.seal(one, scope), scope)).toEqual(one)
  })

  test('is never the same twice and reveals nothing of its cursor', () => {
    const [one, other] = [tokens.seal(page, scope), tokens.seal(page, scope)]
    expect(one).not.toBe(other)
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('after')
    expect(one).toMatch(/^[A-Za-z0-9_-]+$/)
  })

  test('opens when the settings are in another order', () => {
    const token = tokens.seal(page, scope)
    expect(tokens.open(token, { ...scope, settings: { region: 'eu', zone: 1 } })).toEqual(page)
  })

  test('with any byte edited is refused', () => {
    const bytes = Buffer.from(tokens.seal(page, scope), 'base64url')
    for (let at = 0; at < bytes.length; at += 1) {
      for (const bit of [1, 128]) {
        const edited = Buffer.from(bytes)
        edited[at] = (edited[at] as number) ^ bit
        refusal(tokens, edited.toString('base64url'))
      }
    }
  })

  test('that is shortened or extended is refused', () => {
    const token = tokens.seal(page, scope)
    for (let length = 0; length < token.length; length += 1) refusal(tokens, token.slice(0, length))
    refusal(tokens, `${token}A`)
    refusal(tokens, token + token)
  })

  test.each([
    ['connector', { connector: 'other' }],
    ['capability', { capability: 'list_entitlements' }],
    ['request', { request: {} }],
    ['settings', { settings: { zone: 2, region: 'eu' } }],
    ['type of a setting', { settings: { zone: '1', region: 'eu' } }],
    ['place of a value', { request: scope.settings, settings: scope.request }],
  ])('of another %s is refused', (_name, change) => {
    expect(refusal(tokens, tokens.seal(page, scope), { ...scope, ...change })).toMatch(
      /was edited, or/,
    )
  })

  test.each([
    '',
    'x',
    ' ',
    'not a token at all',
    'null',
    '='.repeat(100),
    'A'.repeat(60),
    'AQ==',
    '\u0000',
    'é'.repeat(50),
    `${'A'.repeat(100)}=`,
  ])('that is garbage is refused: %j', (token) => {
    expect(refusal(tokens, token)).toMatch(/^the page token cannot be used: it /)
  })

  test('that is huge is refused', () => {
    expect(refusal(tokens, 'A'.repeat(10_000_000))).toMatch(/is not a page token/)
  })

  test('in another base64 alphabet is refused: a token has only one spelling', () => {
    for (let round = 0; round < 50; round += 1) {
      const token = tokens.seal(page, scope)
      const other = token.replaceAll('-', '+').replaceAll('_', '/')
      if (other !== token) refusal(tokens, other)
      refusal(tokens, `${token}=`)
      refusal(tokens, ` ${token}`)
    }
  })
})

describe('the lifetime', () => {
  let now = 1_800_000_000_000
  const timed = createPageTokens([NEW], () => now)

  test('ends after a day, and starts again with the token of each page', () => {
    const first = timed.seal(page, scope)
    now += TOKEN_LIFETIME_MS - 1000
    expect(timed.open(first, scope)).toEqual(page)
    const second = timed.seal(page, scope)
    now += 2000
    expect(refusal(timed, first)).toMatch(/has expired; start again without a token/)
    expect(timed.open(second, scope)).toEqual(page)
  })
})

describe('secrets', () => {
  test('open tokens of the old secret during a rotation, and seal with the new one', () => {
    const before = createPageTokens([OLD])
    const during = createPageTokens([NEW, OLD])
    const after = createPageTokens([NEW])
    const old = before.seal(page, scope)
    expect(during.open(old, scope)).toEqual(page)
    const fresh = during.seal(page, scope)
    expect(after.open(fresh, scope)).toEqual(page)
    expect(refusal(after, old)).toMatch(/its key has been retired/)
    expect(refusal(before, fresh)).toMatch(/was not made here/)
  })

  test('must not be empty', () => {
    expect(() => createPageTokens([])).toThrow('at least one secret')
  })
})

test.each([
  [{ b: 1, a: { d: 2, c: [{ f: 1, e: 2 }] } }, '{"a":{"c":[{"e":2,"f":1}],"d":2},"b":1}'],
  [[undefined, null], '[null,null]'],
  [{ a: undefined }, '{}'],
  [JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
])('canonical JSON of %j', (value, text) => {
  expect(canonicalJson(value)).toBe(text)
})
