import * as v from 'valibot'
import { expect, test } from 'vitest'
import { CAPABILITY_NAMES } from '../../runtime/contract/capabilities/capabilities.ts'
import {
  AUTHENTICATION,
  CREDENTIAL_KINDS,
} from '../../runtime/contract/connector/authentication.ts'
import { requestSchema, responseSchema } from '../../runtime/contract/connector/payload.ts'
import { type Field, flatSchema } from '../../runtime/contract/connector/settings.ts'
import type { AnySchema } from '../../runtime/contract/schema/shape.ts'
import { minimalSettings, minimalValue } from '../../runtime/testing/minimal-values.ts'

test.each(CAPABILITY_NAMES)('the smallest request and response of %s fit', (name) => {
  for (const schema of [requestSchema(name), responseSchema(name)])
    expect(v.is(schema, minimalValue(schema))).toBe(true)
})

test.each(CREDENTIAL_KINDS)('the smallest %s credential fits', (kind) => {
  const schema = AUTHENTICATION[kind] as AnySchema
  expect(v.is(schema, minimalValue(schema))).toBe(true)
})

test.each<Field>([
  { type: 'string' },
  { type: 'string', enum: ['b', 'a'] },
  { type: 'string', format: 'url' },
  { type: 'string', format: 'hostname' },
  { type: 'string', format: 'email' },
  { type: 'string', pattern: '[a-z]+' },
  { type: 'integer' },
  { type: 'integer', min: 5 },
  { type: 'integer', max: 0 },
  { type: 'integer', min: -3, max: -2 },
  { type: 'boolean' },
])('the smallest value of the required field %j fits, as setting and as extra field', (field) => {
  const fields = { x: { ...field, required: true } as Field }
  expect(v.is(flatSchema(fields), minimalSettings(fields))).toBe(true)
  const schema = requestSchema('update_account', fields)
  expect(v.is(schema, minimalValue(schema))).toBe(true)
})

test('optional settings are left out', () => {
  expect(minimalSettings({ x: { type: 'string' }, y: { type: 'boolean', default: true } })).toEqual(
    {},
  )
})
