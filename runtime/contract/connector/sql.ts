/**
 * SQL as a connector sees it: the statements that its manifest declares, their parameters, and the limits of
 * a request. A request of `ctx.sql` leaves the sandbox as a fetch of `sql:` with a JSON body. The host
 * chooses the server and the text of the statement by the manifest.
 */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { SQL_METHODS } from './sql-context.ts'

/** Database systems by their name in a manifest, with the schemes of their URLs. */
export const SQL_DIALECTS = {
  postgresql: { schemes: ['postgresql:', 'postgres:'], port: 5432 },
  mysql: { schemes: ['mysql:', 'mariadb:'], port: 3306 },
} as const

/** Name of a system. */
export type SqlDialect = keyof typeof SQL_DIALECTS
/** Names of the systems, in the order of the table. */
export const SQL_DIALECT_NAMES = keysOf(SQL_DIALECTS)

/** Operations, with the method of their requests. */
export const SQL_OPERATIONS = {
  query: { method: SQL_METHODS.query, writes: false },
  execute: { method: SQL_METHODS.execute, writes: true },
  transaction: { method: SQL_METHODS.transaction, writes: true },
} as const

/** Name of an operation. */
export type SqlOperation = keyof typeof SQL_OPERATIONS

/** Returns the operation of a method, or null. */
export const sqlOperationOf = (method: string): SqlOperation | null =>
  keysOf(SQL_OPERATIONS).find((name) => SQL_OPERATIONS[name].method === method) ?? null

/** Limits of one request and its reply. Sizes in characters or bytes, as the name says. */
export const SQL_LIMITS = {
  maxTextChars: 10_000,
  maxParameters: 100,
  maxNames: 20,
  /** Statements of one transaction. */
  maxSteps: 50,
  maxValueChars: 1024 * 1024,
  maxListItems: 10_000,
  maxNameChars: 1024,
  maxPage: 1000,
  /** Rows of a query that is not paged. */
  maxRows: 10_000,
  maxCursorChars: 200,
  /**
   * Bytes of one reply as received. When secrets are replaced in it, it also meets `maxReplyBytes` of
   * EGRESS_LIMITS.
   */
  maxReplyBytes: 16 * 1024 * 1024,
  /** Values of one reply. */
  maxReplyValues: 200_000,
} as const

const text = v.pipe(v.string(), v.maxLength(SQL_LIMITS.maxValueChars))

/** Types of a parameter, and the values that each accepts. Null is always accepted. */
export const SQL_TYPES = {
  string: text,
  integer: v.pipe(v.number(), v.safeInteger()),
  number: v.pipe(v.number(), v.finite()),
  boolean: v.boolean(),
  strings: v.pipe(v.array(text), v.maxLength(SQL_LIMITS.maxListItems)),
} as const

/** Type of a parameter. */
export type SqlType = keyof typeof SQL_TYPES
/** Names of the types, in the order of the table. */
const SQL_TYPE_NAMES = keysOf(SQL_TYPES)

/** Kinds of named places in a statement, `{identifier:member}`. The kind decides how the value is written. */
const SQL_PLACES = ['identifier', 'literal', 'integer', 'password'] as const
/** Kind of a named place. */
export type SqlPlace = (typeof SQL_PLACES)[number]

/** Matches named places: the kind, and the name. */
export const SQL_PLACE = /\{(identifier|literal|integer|password):([a-z][a-z0-9_]{0,62})\}/g

/** A statement as a manifest declares it. */
export const SqlStatement = v.strictObject({
  text: v.pipe(v.string(), v.minLength(1), v.maxLength(SQL_LIMITS.maxTextChars)),
  parameters: v.optional(
    v.pipe(v.array(v.picklist(SQL_TYPE_NAMES)), v.maxLength(SQL_LIMITS.maxParameters)),
    [],
  ),
  reads: v.optional(v.boolean(), false),
})
export type SqlStatement = v.InferOutput<typeof SqlStatement>

/** The name of a statement. */
export const SqlStatementName = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_]{0,62}$/, 'must look like `list_roles`'),
)

const Parameter = v.nullable(v.union(Object.values(SQL_TYPES)))
const Names = v.pipe(
  v.record(SqlStatementName, v.pipe(v.string(), v.maxLength(SQL_LIMITS.maxNameChars))),
  v.maxEntries(SQL_LIMITS.maxNames),
)
const step = {
  statement: v.pipe(v.string(), v.maxLength(63)),
  parameters: v.optional(v.pipe(v.array(Parameter), v.maxLength(SQL_LIMITS.maxParameters)), []),
  names: v.optional(Names, {}),
}
/** One statement with its parameters and names. */
export const StatementStep = v.strictObject(step)
export type StatementStep = v.InferOutput<typeof StatementStep>

/** Bodies of the requests of `ctx.sql`, by operation. */
export const SQL_REQUESTS = {
  query: v.strictObject({
    ...step,
    page: v.optional(
      v.strictObject({
        size: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(SQL_LIMITS.maxPage)),
        cursor: v.nullish(v.pipe(v.string(), v.maxLength(SQL_LIMITS.maxCursorChars))),
      }),
    ),
  }),
  execute: StatementStep,
  transaction: v.strictObject({
    steps: v.pipe(v.array(StatementStep), v.minLength(1), v.maxLength(SQL_LIMITS.maxSteps)),
  }),
} as const

/** A request with its operation. */
export type SqlRequest<O extends SqlOperation = SqlOperation> = {
  [K in O]: { operation: K } & v.InferOutput<(typeof SQL_REQUESTS)[K]>
}[O]

/** Returns the statements of a request of any operation. */
export const stepsOf = (request: SqlRequest): readonly StatementStep[] =>
  request.operation === 'transaction' ? request.steps : [request]
