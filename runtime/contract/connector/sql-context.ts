/**
 * `ctx.sql` as authors see it: types, and the names used in requests between sandbox and host. The sandbox's
 * prelude bundles this file, so it has no schemas.
 */

/** URL of every request of `ctx.sql`. The guest names no server. */
export const SQL_URL = 'sql:'

/** Methods of the requests, by operation. Records and cases show them. */
export const SQL_METHODS = {
  query: 'QUERY',
  execute: 'EXECUTE',
  transaction: 'TRANSACTION',
} as const

/** A value for a parameter of a statement; a list for a parameter of type `strings`. */
export type SqlParameter = string | number | boolean | null | readonly string[]

/** A value of a row. Integers beyond 32 bits, decimals, dates and all other types are strings. */
export type SqlValue = string | number | boolean | null

/** One row, by column name. */
export type SqlRow = Record<string, SqlValue>

/** Rows, and the cursor of the next page (null at the end). */
export type SqlPage = { rows: SqlRow[]; cursor: string | null }

/** Type of the statements in connector.types.ts. Without that file any name is accepted. */
export type SqlStatements = Record<
  string,
  { reads: boolean; parameters: readonly SqlParameter[]; names: string }
>

/** Options of a query, in addition to its parameters. */
export type SqlQueryOptions<Names extends string = string> = {
  names?: Record<Names, string>
  /** Rows per page (1 to 1000), and the cursor of the previous page. If absent, all rows are read. */
  page?: { size: number; cursor?: string | null | undefined }
}

/** One statement of a transaction. */
export type SqlStep<S extends SqlStatements = SqlStatements> = {
  [N in SqlWrites<S>]: {
    statement: N
    parameters?: S[N]['parameters']
    names?: Record<S[N]['names'], string>
  }
}[SqlWrites<S>]

/** Names of the statements that only read. */
export type SqlReads<S extends SqlStatements> = {
  [N in keyof S]: S[N]['reads'] extends false ? never : N
}[keyof S]

/** Names of the statements that write. */
export type SqlWrites<S extends SqlStatements> = {
  [N in keyof S]: S[N]['reads'] extends true ? never : N
}[keyof S]

/**
 * A database, as declared by the manifest's entries with `sql`. Only the manifest's statements run; the host
 * logs in.
 */
export type Sql<S extends SqlStatements = SqlStatements> = {
  /** Runs a statement that only reads. */
  query<N extends SqlReads<S>>(
    statement: N,
    parameters?: S[N]['parameters'],
    options?: SqlQueryOptions<S[N]['names']>,
  ): Promise<SqlPage>
  /** Writes by one statement. Returns the number of affected rows. */
  execute<N extends SqlWrites<S>>(
    statement: N,
    parameters?: S[N]['parameters'],
    names?: Record<S[N]['names'], string>,
  ): Promise<number>
  /** Writes by several statements, all of them or none. Returns the number of affected rows of each. */
  transaction(steps: readonly SqlStep<S>[]): Promise<number[]>
}
