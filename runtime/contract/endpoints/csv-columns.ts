/** The columns of a list as CSV. */
import type { AnySchema } from '../schema/any-schema.ts'
import { entriesOf } from '../schema/shape.ts'

/** The members of what a row of the table of endpoints lists. */
export const csvColumns = (output: AnySchema | null): string[] =>
  output === null ? [] : Object.keys(entriesOf(output))
