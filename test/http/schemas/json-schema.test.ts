import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { flatSchema } from '../../../runtime/contract/connector/settings.ts'
import { maybe, nullable } from '../../../runtime/contract/schema/schemas.ts'
import { fieldSchema } from '../../../runtime/http/schemas/field-schema.ts'
import { createComponents, toSchema } from '../../../runtime/http/schemas/json-schema.ts'

test('requires nullable members in answers, but not in requests', () => {
  const schema = v.strictObject({ id: v.string(), email: nullable(v.string()) })
  expect(toSchema(schema, 'output')['required']).toEqual(['id', 'email'])
  expect(toSchema(schema, 'input')['required']).toEqual(['id'])
})

test('allows null for an absent member, without an undefined default', () => {
  expect(toSchema(v.object({ name: maybe(v.string()) }), 'input')).toStrictEqual({
    type: 'object',
    properties: { name: { type: ['string', 'null'] } },
  })
})

test('allows null as a value of an optional enumeration', () => {
  const member = toSchema(maybe(v.picklist(['a', 'b'])), 'input')
  expect(member).toStrictEqual({ type: ['string', 'null'], enum: ['a', 'b', null] })
})

test('turns metadata into annotations, and omits internal metadata', () => {
  const schema = v.pipe(
    v.string(),
    v.metadata({ title: 'T', secret: true, fieldType: 'SECRET', nature: 'secret', semantic: 's' }),
  )
  expect(toSchema(schema, 'input')).toStrictEqual({
    title: 'T',
    type: 'string',
    'x-field_type': 'SECRET',
    'x-secret': true,
    'x-semantic': 's',
  })
})

test.each([
  ['unknown metadata', v.pipe(v.string(), v.metadata({ flavour: 'sweet' })), /flavour/],
  ['a schema in code without a description', v.object({ a: v.custom(() => true) }), /jsonSchema/],
  ['a transformation', v.pipe(v.string(), v.toUpperCase()), /to_upper_case/],
])('refuses %s', (_, schema, message) => {
  expect(() => toSchema(schema, 'input')).toThrow(message)
})

describe('components', () => {
  const Colour = v.pipe(v.picklist(['red']), v.metadata({ title: 'Colour' }))
  const Car = v.pipe(v.object({ colour: maybe(Colour) }), v.metadata({ title: 'Car' }))

  test('are the titled objects and enumerations, referred to by name', () => {
    const components = createComponents()
    const root = components.schema(v.array(Car), 'input')
    expect(root).toStrictEqual({ type: 'array', items: { $ref: '#/components/schemas/Car' } })
    expect(components.all()).toStrictEqual({
      Car: {
        title: 'Car',
        type: 'object',
        properties: {
          colour: { anyOf: [{ $ref: '#/components/schemas/Colour' }, { type: 'null' }] },
        },
      },
      Colour: { title: 'Colour', type: 'string', enum: ['red'] },
    })
  })

  test('refuse one name for two schemas', () => {
    const Other = v.pipe(v.object({ wheels: v.number() }), v.metadata({ title: 'Car' }))
    const components = createComponents()
    components.schema(Car, 'input')
    expect(() => components.schema(Other, 'input')).toThrow('two different schemas are called Car')
    expect(() => components.schema(v.union([Car, Other]), 'input')).toThrow(/called Car/)
  })
})

describe('a declared field', () => {
  test('keeps its constraints if it is optional', () => {
    const schema = flatSchema({ level: { type: 'integer', min: 1, max: 5, title: 'Level' } })
    expect(toSchema(schema, 'input')['properties']).toStrictEqual({
      level: { title: 'Level', type: ['integer', 'null'], minimum: 1, maximum: 5 },
    })
  })

  test.each([
    ['[a-z]+', '^(?:[a-z]+)$'],
    ['^[a-z]+$', '^[a-z]+$'],
    ['^a|b$', '^(?:^a|b$)$'],
    ['^cost\\$', '^(?:^cost\\$)$'],
  ])('matches the whole value with %s', (pattern, expected) => {
    expect(fieldSchema({ type: 'string', pattern })['pattern']).toBe(expected)
  })

  test('has an x-pattern instead of a pattern that JSON Schema cannot express', () => {
    const schema = fieldSchema({ type: 'string', pattern: '(?P<team>[a-z]+)' })
    expect(schema).toMatchObject({ 'x-pattern': '(?P<team>[a-z]+)' })
    expect(schema).not.toHaveProperty('pattern')
  })
})
