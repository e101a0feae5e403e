/**
 * Building blocks for the schemas of this folder: titles, under which the reference, OpenAPI and the SDK list
 * an object; descriptions; and optional members. On the wire `null` means absent, in both directions
 * (connector-interface.md section 1.1): a caller's null arrives as `undefined`, and a member that a connector
 * omits is sent as `null`. Only changes of the core interface distinguish the two.
 */
import * as v from 'valibot'
import { deeperThan, MAX_DEPTH } from './depth.ts'
import { mapValues } from './keys.ts'
import { isObject } from './record.ts'
import type { AnySchema } from './shape.ts'

type Titled<E> = [title: string, entries: E] | [title: string, description: string, entries: E]

/** An object schema that ignores unknown members. */
export function object<const E extends v.ObjectEntries>(...given: Titled<E>) {
  const { metadata, entries } = read(given)
  return v.pipe(v.object(entries), v.metadata(metadata))
}

/** An object schema that rejects unknown members. */
export function strictObject<const E extends v.ObjectEntries>(...given: Titled<E>) {
  const { metadata, entries } = read(given)
  return v.pipe(v.strictObject(entries), v.metadata(metadata))
}

const read = <E>(
  given: Titled<E>,
): { metadata: { title: string; description?: string }; entries: E } => {
  if (given.length === 2) return { metadata: { title: given[0] }, entries: given[1] }
  return { metadata: { title: given[0], description: given[1] }, entries: given[2] }
}

/** Adds a description, which the reference shows. */
export const described = <const S extends AnySchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))

/** A timestamp in its wire format. */
export const utcMoment = described(v.string(), 'ISO 8601, UTC')

/** An integer that a double can hold exactly. */
export const count = v.pipe(v.number(), v.safeInteger())

const absent = (): undefined => undefined

/** An optional member of a request: absent, `null` and `undefined` mean the same. */
export const maybe = <const S extends AnySchema>(schema: S) => v.nullish(schema, absent)

/**
 * Optional members, from a table of their schemas. The cast is needed because `mapValues` gives all of them
 * one type.
 */
export const allMaybe = <const T extends Record<string, AnySchema>>(table: T) =>
  mapValues(table, maybe) as unknown as {
    [K in keyof T]: v.NullishSchema<T[K], typeof absent>
  }

/** An optional member of a response: an absent one is written as `null`. */
export const nullable = <const S extends AnySchema>(schema: S) => v.nullish(schema, null)

/** An optional member of a change: `null` stays `null` and clears the member, absent leaves it unchanged. */
export const keptNull = <const S extends AnySchema>(schema: S) => v.optional(v.nullable(schema))

/**
 * A free-form JSON object: extra data, custom attributes of any shape, a service account's key. A `__proto__`
 * member at any depth is rejected: it is never data, and it endangers code that merges the object later.
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

/** Any object. Its members are checked by a separate schema. */
export const anyObject = () =>
  v.pipe(
    v.custom<Record<string, unknown>>(isObject, 'Expected an object'),
    v.metadata({ jsonSchema: { type: 'object' } }),
  )

/** A map from string to string, such as custom attributes. */
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
