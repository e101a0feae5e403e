/**
 * `ctx.sql` as authors see it. Types, and the words that cross the wall: the sandbox's prelude bundles this file, so
 * it holds no schemas.
 */

/** The address of every request of `ctx.sql`: the guest names no server. */
export const SQL_URL = 'sql:'

/** What crosses the wall, by operation; records and cases show it. */
export const SQL_METHODS = {
  query: 'QUERY',
  execute: 'EXECUTE',
  transaction: 'TRANSACTION',
} as const

/** A value for a parameter of a statement; a list where the statement says `strings`. */
export type SqlParameter = string | number | boolean | null | readonly string[]

/** A value of a row. Whole numbers beyond 32 bits, decimals, dates and everything else are texts. */
export type SqlValue = string | number | boolean | null

/** One row, by the names of its columns. */
export type SqlRow = Record<string, SqlValue>

/** Rows, and where the result goes on (null at the end). */
export type SqlPage = { rows: SqlRow[]; cursor: string | null }

/** What connector.types.ts says of the statements of a connector; without that file any name may be one. */
export type SqlStatements = Record<
  string,
  { reads: boolean; parameters: readonly SqlParameter[]; names: string }
>

/** What a query is given beside its parameters. */
export type SqlQueryOptions<Names extends string = string> = {
  names?: Record<Names, string>
  /** Rows at once (1 to 1000), and the cursor of the page before. Without it all rows are read. */
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

/** A database, by the manifest's entries with `sql`. Statements are those of the manifest; the host logs in. */
export type Sql<S extends SqlStatements = SqlStatements> = {
  /** Reads by a statement that only reads. */
  query<N extends SqlReads<S>>(
    statement: N,
    parameters?: S[N]['parameters'],
    options?: SqlQueryOptions<S[N]['names']>,
  ): Promise<SqlPage>
  /** Writes by one statement: how many rows it touched. */
  execute<N extends SqlWrites<S>>(
    statement: N,
    parameters?: S[N]['parameters'],
    names?: Record<S[N]['names'], string>,
  ): Promise<number>
  /** Writes by several statements, all of them or none: how many rows each touched. */
  transaction(steps: readonly SqlStep<S>[]): Promise<number[]>
}
