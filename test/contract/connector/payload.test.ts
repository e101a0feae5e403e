import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  CAPABILITIES,
  CAPABILITY_NAMES,
  type CapabilityName,
} from '../../../runtime/contract/capabilities/capabilities.ts'
import {
  answerFields,
  describeIssues,
  parseOptionsFor,
  requestSchema,
  responseSchema,
  standardFields,
} from '../../../runtime/contract/connector/payload.ts'
import type { Fields } from '../../../runtime/contract/connector/settings.ts'
import type { AnySchema } from '../../../runtime/contract/schema/shape.ts'

const findings = (schema: AnySchema, value: unknown): string => {
  const parsed = v.safeParse(schema, value)
  return parsed.success ? 'fits' : describeIssues(parsed.issues)
}

describe('a request', () => {
  test.each(CAPABILITY_NAMES)('of %s is the standard one when nothing is added', (name) => {
    expect(requestSchema(name)).toBe(CAPABILITIES[name].input)
    expect(responseSchema(name)).toBe(CAPABILITIES[name].output)
  })

  test('may be widened by fields of the connector', () => {
    const schema = requestSchema('update_account', {
      department: { type: 'string', required: true },
      level: { type: 'integer', default: 1 },
    })
    expect(v.parse(schema, { id: 'a', department: 'x', other: 1 })).toEqual({
      id: 'a',
      department: 'x',
      level: 1,
    })
    expect(findings(schema, { id: 'a' })).toBe('department: missing')
  })

  test.each([
    ['create_account', 'email', { type: 'integer' }, { entitlements: [], email: 'x' }],
    ['update_account', 'id', { type: 'boolean' }, { id: 'a' }],
  ] as [CapabilityName, string, Fields[string], object][])(
    'of %s keeps its standard %s even if the connector declares it',
    (name, field, declared, value) => {
      expect(findings(requestSchema(name, { [field]: declared }), value)).toBe('fits')
    },
  )

  test('keeps a required member required', () => {
    expect(findings(requestSchema('update_account', { id: { type: 'string' } }), {})).toBe(
      'id: missing',
    )
  })
})

describe('a response', () => {
  const schema = responseSchema('create_account', {
    licence: { type: 'string', enum: ['a', 'b'] },
    seats: { type: 'integer', default: 4 },
  })
  const standard = { status: 'ACTIVE', created: true } as const

  test('may be widened; omitted fields become null', () => {
    expect(v.parse(schema, { ...standard, licence: 'a' })).toEqual({
      ...standard,
      id: null,
      licence: 'a',
      seats: null,
    })
  })

  test.each([
    [{ ...standard, other: 1 }, 'other: there is no such field'],
    [{ ...standard, licence: 'c' }, 'licence: must be one of "a", "b" (found "c")'],
    [{ created: true }, 'status: missing'],
  ])('is strict: %j', (value, message) => {
    expect(findings(schema, value)).toBe(message)
  })

  test('keeps its standard members even if the connector declares them', () => {
    const own = responseSchema('create_account', { created: { type: 'string' } })
    expect(findings(own, { status: 'ACTIVE', created: 'x' })).toContain('created: ')
  })
})

test('the standard fields are those of request and response', () => {
  expect([...standardFields('update_account')]).toEqual(['id'])
  expect(standardFields('create_account')).toContain('created')
  expect(standardFields('create_account')).toContain('email')
  expect([...standardFields('list_accounts')]).toEqual(['custom_attributes'])
})

describe('findings', () => {
  test('are limited to ten and a count', () => {
    const names = Array.from({ length: 25 }, (_, at) => `n${at}`)
    const text = findings(
      v.strictObject(Object.fromEntries(names.map((name) => [name, v.string()]))) as AnySchema,
      Object.fromEntries(names.map((name) => [name, 1])),
    )
    expect(text.split('; ')).toHaveLength(11)
    expect(text).toMatch(/; and 15 more$/)
  })

  test('are merged for items of a list with the same fault', () => {
    const rows = v.array(v.strictObject({ id: v.string(), state: v.picklist(['on', 'off']) }))
    const text = findings(rows as AnySchema, [
      { id: 1, state: 'on' },
      { id: 2, state: 'ON' },
      { id: 3, state: 'on', nmae: 'x' },
    ])
    expect(text).toBe(
      '[0].id: write a string (found 1) (and 2 more like it); [1].state: write one of "on", "off" (found "ON"); [2].nmae: there is no such field',
    )
  })

  test('are complete for a text of up to 20,000 characters; for a longer one there is only the first', () => {
    const found = (length: number) =>
      v.safeParse(v.array(v.string()), [1, 2, 3], parseOptionsFor(length)).issues?.length
    expect([found(20_000), found(20_001)]).toEqual([3, 1])
  })

  test('are merged only among the first five hundred', () => {
    const text = findings(v.array(v.string()) as AnySchema, Array(2000).fill(1))
    expect(text).toBe('[0]: write a string (found 1) (and 499 more like it); and 1500 more')
  })

  test.each([
    [v.boolean(), 'yes', 'write true or false (found "yes")'],
    [v.strictObject({}), true, 'write an object (found true)'],
    [v.union([v.string(), v.boolean()]), 3, 'write a string or true or false (found 3)'],
    [v.union([v.picklist(['a', 'b']), v.literal('c')]), 4, 'write one of "a", "b", "c" (found 4)'],
    [v.picklist(['a', 'b']), undefined, 'missing: write one of "a", "b"'],
  ])('say what to write', (schema, value, expected) => {
    expect(findings(schema as AnySchema, value)).toBe(expected)
  })

  test.each([
    v.picklist(['a', 'b']),
    v.pipe(v.string(), v.email()),
    v.pipe(v.string(), v.regex(/^a$/)),
    v.pipe(v.string(), v.base64()),
    v.number(),
  ])('repeat no value that is marked as quiet', (schema) => {
    const { issues = [] } = v.safeParse(schema, 'hun\nter2')
    expect(issues.length).toBeGreaterThan(0)
    expect(describeIssues(issues, 'at', () => true)).not.toContain('ter2')
  })

  test('repeat no more than the beginning of a long value', () => {
    const text = findings(v.strictObject({ a: v.boolean() }) as AnySchema, { a: 'x'.repeat(1e6) })
    expect(text).toMatch(/^a: write true or false \(found "x{100}/)
    expect(text.length).toBeLessThan(400)
  })

  test('repeat no more than the beginning of a long name', () => {
    const text = findings(v.strictObject({}) as AnySchema, { ['x'.repeat(1e6)]: 1 })
    expect(text.length).toBeLessThan(600)
  })

  test('have no path for a value at the top', () => {
    expect(findings(v.string() as AnySchema, 1)).toBe('write a string (found 1)')
  })
})

describe('the answer of update_account', () => {
  const asked: Fields = {
    title: { type: 'string', required: true },
    password: { type: 'string', secret: true },
  }

  test('may contain the fields of its request, except secrets', () => {
    const fields = answerFields('update_account', { request_fields: asked })
    expect(Object.keys(fields)).toEqual(['title'])
    const schema = responseSchema('update_account', fields)
    expect(v.parse(schema, { id: 'u1', title: 'Lead' })).toEqual({ id: 'u1', title: 'Lead' })
    expect(v.parse(schema, { id: 'u1' })).toEqual({ id: 'u1', title: null })
    expect(v.safeParse(schema, { id: 'u1', password: 'x' }).success).toBe(false)
  })

  test('prefers a declared response field of the same name', () => {
    const own: Fields = { title: { type: 'integer' } }
    const declared = { request_fields: asked, response_fields: own }
    expect(answerFields('update_account', declared)).toEqual(own)
  })

  test('has no effect on the answer of create_account', () => {
    expect(answerFields('create_account', { request_fields: asked })).toEqual({})
  })
})
