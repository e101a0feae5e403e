/** Makes the smallest value that fits a contract schema, with required members only. */

import type { Field, Fields } from '../contract/connector/settings.ts'
import { type AnySchema, metadataOf, shapeOf } from '../contract/schema/shape.ts'

/** Returns a value that the schema accepts, without optional members. */
export function minimalValue(schema: AnySchema): unknown {
  const shape = shapeOf(schema)
  const { field }: { field?: Field } = metadataOf(schema)
  if (field) return example(field)
  switch (shape.type) {
    case 'object':
    case 'strict_object':
      return Object.fromEntries(
        Object.entries(shape.entries ?? {})
          .filter(([, member]) => member.type !== 'nullish')
          .map(([name, member]) => [name, minimalValue(member)]),
      )
    case 'string':
      return 'x'
    case 'number':
      return 1
    case 'boolean':
      return true
    case 'array':
      return []
    case 'literal':
      return shape.literal
    case 'picklist':
      return shape.options?.[0]
    case 'custom':
    case 'record':
      return {}
    default:
      throw new Error(`no minimal value for a schema of type ${shape.type}`)
  }
}

const EXAMPLES = {
  url: 'https://example.com',
  hostname: 'example.com',
  email: 'jo@example.com',
} as const

/** Returns settings that fit their declaration: only required ones, with examples by format. */
export function minimalSettings(fields: Fields): Record<string, unknown> {
  const required = Object.entries(fields).filter(([, field]) => field.required)
  return Object.fromEntries(required.map(([name, field]) => [name, example(field)]))
}

function example(field: Fields[string]): unknown {
  if (field.type === 'integer') return field.min ?? Math.min(1, field.max ?? 1)
  if (field.type === 'boolean') return true
  if (field.enum) return field.enum[0]
  return field.format ? EXAMPLES[field.format] : 'example'
}
