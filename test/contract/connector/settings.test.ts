import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  type Field,
  Fields,
  flatSchema,
  HOSTNAME,
  MAX_SETTING_LENGTH,
} from '../../../runtime/contract/connector/settings.ts'

const takes = (field: Field, value: unknown): boolean =>
  v.safeParse(flatSchema({ x: field }), { x: value }).success

const filled = (field: Field, value: unknown): unknown =>
  v.parse(flatSchema({ x: field }), value)['x']

describe('a value', () => {
  const cases: [string, Field, unknown[], unknown[]][] = [
    [
      'string',
      { type: 'string' },
      ['', 'a', 'ü'],
      [1, true, {}, [], 'x'.repeat(MAX_SETTING_LENGTH + 1)],
    ],
    ['enum', { type: 'string', enum: ['eu', 'us'] }, ['eu'], ['EU', '', 'eu ', 'constructor']],
    [
      'pattern',
      { type: 'string', pattern: '^[a-z0-9-]+$' },
      ['a', 'a-1'],
      ['', 'A', 'a.b', 'a\n', '\na', 'a/../b', 'a@b', 'a#', 'a:1', 'a b', 'a\nb'],
    ],
    [
      'pattern without anchors, for the whole value,',
      { type: 'string', pattern: '[a-z]+' },
      ['abc'],
      ['abc.evil.example', '1a', 'a\n'],
    ],
    ['integer', { type: 'integer' }, [0, -5, 2 ** 53 - 1], ['1', 1.5, 2 ** 53, true, null === 0]],
    ['integer in bounds', { type: 'integer', min: 2, max: 4 }, [2, 3, 4], [1, 5]],
    ['boolean', { type: 'boolean' }, [true, false], ['true', 1, 0, '']],
    [
      'hostname',
      { type: 'string', format: 'hostname' },
      ['a', 'api.acme.example', 'A-1.b', 'xn--bcher-kva.example', `${'a'.repeat(63)}.b`],
      [
        '',
        '.',
        'a.',
        '.a',
        'a..b',
        '-a',
        'a-',
        'a/..',
        'a/../b',
        'u@a',
        'a#b',
        'a?b',
        'a:443',
        'a\n',
        'a b',
        ' a',
        'a\\b',
        'a%2eb',
        '[::1]',
        'bücher.example',
        `${'a'.repeat(64)}.b`,
        Array.from({ length: 130 }, () => 'a').join('.'),
      ],
    ],
    [
      'url',
      { type: 'string', format: 'url' },
      [
        'https://a.example',
        'http://a.example:8080/base/path',
        'HTTPS://A.example/',
        'https://[::1]:1/',
      ],
      [
        '',
        'a.example',
        '//a.example',
        'ftp://a.example',
        'javascript:alert(1)',
        'https://',
        'https:///x',
        'https://u@a.example',
        'https://u:p@a.example',
        'https://a.example?x=1',
        'https://a.example#x',
        'https://a.example\\@evil.example',
        'https://a.exa mple',
        ' https://a.example',
        'https://a.example\n',
        'https://a.exam\tple',
        'https://a.example:99999',
        'https://a.example:x',
        'https:a.example',
      ],
    ],
    [
      'email',
      { type: 'string', format: 'email' },
      ['jo@example.com'],
      ['jo', '@x', 'jo@', 'a@b@c', 'jo @x', 'jo@x\n'],
    ],
  ]
  test.each(cases)('of %s is checked', (_name, field, good, bad) => {
    expect(good.filter((value) => !takes(field, value))).toEqual([])
    expect(bad.filter((value) => takes(field, value))).toEqual([])
  })

  test('may be absent or null, unless it is required', () => {
    for (const value of [{}, { x: null }]) {
      expect(filled({ type: 'string' }, value)).toBeUndefined()
      expect(filled({ type: 'integer', default: 0 }, value)).toBe(0)
      expect(filled({ type: 'boolean', default: false }, value)).toBe(false)
      expect(() => filled({ type: 'string', required: true }, value)).toThrow()
    }
  })
})

test('a value with a pattern has at most 512 characters', () => {
  const field: Field = { type: 'string', pattern: 'a+' }
  expect(takes(field, 'a'.repeat(512))).toBe(true)
  const { issues } = v.safeParse(flatSchema({ x: field }), { x: 'a'.repeat(513) })
  expect(issues?.map(({ message }) => message)).toEqual([
    'is too long: at most 512 characters where there is a pattern',
  ])
})

test('the default is not matched against the pattern at each call', () => {
  expect(filled({ type: 'string', pattern: 'a+', default: 'b' }, {})).toBe('b')
})

test('a pattern made for catastrophic backtracking is evaluated at once', () => {
  const begun = performance.now()
  expect(takes({ type: 'string', pattern: '(a+)+$' }, `${'a'.repeat(8191)}b`)).toBe(false)
  expect(takes({ type: 'string', pattern: '(a|a)*b' }, 'a'.repeat(8192))).toBe(false)
  expect(takes({ type: 'string', pattern: '(.*a){20}' }, 'b'.repeat(8192))).toBe(false)
  // Not a measurement: the built-in engine needs longer than the age of the universe.
  expect(performance.now() - begun).toBeLessThan(10_000)
})

test.each(['a'.repeat(254), '-'.repeat(8192), 'a-'.repeat(4096), 'a.'.repeat(4096)])(
  'an invalid host name is refused (%#)',
  (text) => {
    expect(HOSTNAME.test(text)).toBe(false)
  },
)

describe('a declaration', () => {
  const bad: [string, Record<string, unknown>][] = [
    ['a name in capitals', { BaseUrl: { type: 'string' } }],
    ['a name with a dash', { 'base-url': { type: 'string' } }],
    ['no type', { x: {} }],
    ['an unknown type', { x: { type: 'number' } }],
    ['an unknown format', { x: { type: 'string', format: 'uri' } }],
    ['an invalid pattern', { x: { type: 'string', pattern: '(' } }],
    ['a pattern with look-around', { x: { type: 'string', pattern: '(?=a)a' } }],
    ['a pattern with back-references', { x: { type: 'string', pattern: '(a)\\1' } }],
    ['a pattern that is too long', { x: { type: 'string', pattern: 'a'.repeat(201) } }],
    ['an empty enum', { x: { type: 'string', enum: [] } }],
    ['a default of another type', { x: { type: 'integer', default: '1' } }],
    ['min on a string', { x: { type: 'string', min: 1 } }],
    ['secret on a boolean', { x: { type: 'boolean', secret: true } }],
    ['a min that is not an integer', { x: { type: 'integer', min: 0.5 } }],
    [
      'too many values in an enum',
      { x: { type: 'string', enum: Array.from({ length: 501 }, String) } },
    ],
    ['a title that is too long', { x: { type: 'boolean', title: 'x'.repeat(2001) } }],
    ['an unknown member', { x: { type: 'string', requried: true } }],
  ]
  test.each(bad)('with %s is refused', (_name, fields) => {
    expect(v.safeParse(Fields, fields).success).toBe(false)
  })

  test('of more than 100 fields is refused', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, { type: 'boolean' }]))
    expect(v.is(Fields, many(100))).toBe(true)
    expect(v.safeParse(Fields, many(101)).issues?.[0].message).toBe('at most 100 are allowed')
  })

  test.each(['(a{1000}){1000}', '((a{100}){100}){100}', `${'('.repeat(99)}${')'.repeat(99)}`])(
    'with the explosive pattern %s is refused or harmless',
    (pattern) => {
      const parsed = v.safeParse(Fields, { x: { type: 'string', pattern } })
      if (parsed.success) expect(takes(parsed.output['x'] as Field, 'b')).toBe(false)
    },
  )
})
