/** Reading access to the parts of a valibot schema, which its common type does not declare. */
import * as v from 'valibot'

/** A schema of any input and output. */
export type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>

/** Parts of a schema, depending on its type (`object`, `array`, `nullish` ...). */
type SchemaShape = {
  type: string
  /** Members of an object. */
  entries?: Record<string, AnySchema>
  /** Items of an array. */
  item?: AnySchema
  /** Values of a record, under any name. */
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

/** Returns the parts of a schema. */
export const shapeOf = (schema: AnySchema): SchemaShape => schema

/** Returns the members of an object schema; empty for any other schema. */
export const schemaEntries = (schema: AnySchema): Record<string, AnySchema> =>
  shapeOf(schema).entries ?? {}

/** Returns the metadata of a schema, by name. */
export const metadataOf = (schema: AnySchema): Record<string, unknown> => ({
  ...v.getMetadata(schema),
})

/** Returns the schema inside an optional or nullable one. */
export const wrappedIn = (schema: AnySchema): AnySchema | undefined => shapeOf(schema).wrapped
