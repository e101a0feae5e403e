/**
 * The ways in which a member may be missing. On the wire `null` means absent, in both
 * directions (connector-interface.md section 1.1): callers' nulls arrive as `undefined`, and what a
 * connector leaves out leaves as `null`. Only changes of the core interface tell the two apart.
 */
import * as v from 'valibot'
import { mapValues } from './keys.ts'

type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>

const absent = (): undefined => undefined

/** An optional member of something that a caller sends: absent, `null` and `undefined` are one. */
export const maybe = <const S extends AnySchema>(schema: S) => v.nullish(schema, absent)

/** Optional members, by a table of their schemas. The cast: `mapValues` gives all of them one type. */
export const allMaybe = <const T extends Record<string, AnySchema>>(table: T) =>
  mapValues(table, maybe) as unknown as {
    [K in keyof T]: v.NullishSchema<T[K], typeof absent>
  }

/** An optional member of something that a connector answers: absent is written out as `null`. */
export const nullable = <const S extends AnySchema>(schema: S) => v.nullish(schema, null)

/** An optional member of a change: `null` stays `null` and takes it back, absent leaves it as it is. */
export const keptNull = <const S extends AnySchema>(schema: S) => v.optional(v.nullable(schema))
