/** What is written on a schema beside what it accepts. */
import * as v from 'valibot'
import type { AnySchema } from './any-schema.ts'

/** Its metadata, by name. */
export const metadataOf = (schema: AnySchema): Record<string, unknown> => ({
  ...v.getMetadata(schema),
})

/** The schema inside one that is optional or nullable. */
export function wrappedIn(schema: AnySchema): AnySchema | undefined {
  const { wrapped }: AnySchema & { wrapped?: AnySchema } = schema
  return wrapped
}

/** A schema with what the reference says of it. */
export const described = <const S extends AnySchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))
