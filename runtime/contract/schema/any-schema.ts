/** The type of any schema. */
import type * as v from 'valibot'

/** A schema of whatever it reads and answers. */
export type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>
