import * as v from 'valibot'
import { deeperThan, MAX_DEPTH } from './depth.ts'
import { isObject } from './record.ts'

/**
 * A free-form JSON object: extra data, custom attributes of any shape, a service account's key. A
 * `__proto__` member anywhere inside is refused: it is never data, and would be a trap for code that
 * merges it later.
 */
export const freeObject = () =>
  v.pipe(
    v.custom<Record<string, unknown>>(isObject, 'Expected an object'),
    v.check(
      (value) => !deeperThan(value, MAX_DEPTH),
      `must not be nested deeper than ${MAX_DEPTH} levels`,
    ),
    v.check((value) => !hasProtoKey(value), 'must not hold a member named __proto__'),
    v.metadata({ jsonSchema: { type: 'object' } }),
  )

/** Any object; what is in it is judged by a schema of its own. */
export const anyObject = () =>
  v.pipe(
    v.custom<Record<string, unknown>>(isObject, 'Expected an object'),
    v.metadata({ jsonSchema: { type: 'object' } }),
  )

/** A map from string to string, as custom attributes are. */
export const stringMap = () =>
  v.pipe(
    v.custom<Record<string, string>>(
      (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
      'Expected an object whose values are strings',
    ),
    v.check((value) => !hasProtoKey(value), 'must not hold a member named __proto__'),
    v.metadata({ jsonSchema: { type: 'object', additionalProperties: { type: 'string' } } }),
  )

function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Object.hasOwn(value, '__proto__')) return true
  return Object.values(value).some(hasProtoKey)
}
