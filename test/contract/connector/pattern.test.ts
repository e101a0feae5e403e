import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'
import {
  estimateSteps,
  MAX_ALL_PATTERN_STEPS,
  MAX_PATTERN_STEPS,
  patternFault,
  patternsFault,
} from '../../../runtime/contract/connector/pattern.ts'

describe('a pattern', () => {
  test.each([
    '^[a-z0-9-]+$',
    '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*',
    '(?i)https://[^/]+\\.example',
    '\\p{Greek}{1,10}|\\pL+',
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
    'sk-[A-Za-z0-9_-]{20,200}',
    '',
  ])('%s may be used', (pattern) => {
    expect(patternFault(pattern)).toBeNull()
  })

  test.each([
    '(?:.?){1000}',
    '(?:.?){1000}'.repeat(16),
    '(?:.{0,1000})'.repeat(14),
    '((a{30}){30})'.repeat(12),
    `(?:${'a?'.repeat(90)}){1000}`,
    '(?:[)]?.?.?){500}',
    '(?:\\Q)\\E.?.?){500}',
    '(?:\\).?.?){500}',
    '(?i)(?:\\pL{1000})',
  ])('%s is too large; the message suggests an alternative', (pattern) => {
    expect(patternFault(pattern)).toMatch(/is too large a pattern: .* steps.*write \+ or \*/)
  })

  test.each(['(', '(?=a)a', '(a)\\1', 'a{2'.concat('}{3}')])(
    '%s is not a regular expression',
    (pattern) => {
      expect(patternFault(pattern)).toMatch(/is not a regular expression/)
    },
  )
})

test('the estimate is never far below the program size of the engine', () => {
  const parts = [
    'a',
    '.?',
    '[)(]',
    '\\(',
    '(b{3})',
    '(?:c|d)*',
    '[[:alpha:]]{2,9}',
    '\\Q(\\E',
    '[]a]',
  ]
  for (const one of parts)
    for (const other of parts) {
      const pattern = `(?:${one}${other}){7}${other}(?:${one})+`
      const steps = RE2JS.compile(pattern).programSize()
      expect([pattern, estimateSteps(pattern) * 2 + 10 > steps]).toEqual([pattern, true])
    }
})

describe('the patterns of a manifest together', () => {
  const field = { type: 'string', pattern: 'a{900}' }
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, field]))

  test('may have as many steps as the limit', () => {
    expect(patternsFault({ settings: fields(5) })).toBeNull()
  })

  test.each([
    ['settings', { settings: fields(6) }],
    ['requests', { capabilities: { create_account: { request_fields: fields(6) } } }],
    ['responses', { capabilities: { create_account: { response_fields: fields(6) } } }],
  ])('must not exceed the limit: of %s', (_name, manifest) => {
    expect(patternsFault(manifest)).toContain(`at most ${MAX_ALL_PATTERN_STEPS} are allowed`)
  })

  test.each([null, 5, [], { settings: 5, capabilities: [null, 'x', { request_fields: null }] }])(
    'are none for %j',
    (manifest) => {
      expect(patternsFault(manifest)).toBeNull()
    },
  )
})

test('one pattern cannot use up the limit of all patterns', () => {
  expect(MAX_PATTERN_STEPS).toBeLessThan(MAX_ALL_PATTERN_STEPS)
})
