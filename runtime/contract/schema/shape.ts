/** Reading access to the parts of a valibot schema, whose common type declares none of them. */
import * as v from 'valibot'

/** A schema of whatever it reads and answers. */
export type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>

/** The parts that a schema may have, depending on its type (`object`, `array`, `nullish` ...). */
type SchemaShape = {
  type: string
  /** Members of an object. */
  entries?: Record<string, AnySchema>
  /** Items of an array. */
  item?: AnySchema
  /** What a record holds, by any name. */
  value?: AnySchema
  /** Schema inside an optional, nullable or nullish one. */
  wrapped?: AnySchema
  /** Values of a picklist. */
  options?: readonly unknown[]
  /** Value of a literal. */
  literal?: unknown
  /** Default of an optional or nullish schema. */
  default?: unknown
  /** Steps of a pipe, the schema itself first. */
  pipe?: readonly { kind: string }[]
}

/** The parts of a schema. */
export const shapeOf = (schema: AnySchema): SchemaShape => schema

/** The members of an object schema; none for any other. */
export const schemaEntries = (schema: AnySchema): Record<string, AnySchema> =>
  shapeOf(schema).entries ?? {}

/** Its metadata, by name. */
export const metadataOf = (schema: AnySchema): Record<string, unknown> => ({
  ...v.getMetadata(schema),
})

/** The schema inside one that is optional or nullable. */
export const wrappedIn = (schema: AnySchema): AnySchema | undefined => shapeOf(schema).wrapped
