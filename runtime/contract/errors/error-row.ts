/** The form of a row of the tables of errors. */
import type { ErrorCode } from './error-codes.ts'
import type { RefusalKind } from './problem.ts'

/** Whose doing an error is: decides the log level, and whether anyone should be woken. */
export type Blame = 'caller' | 'connector' | 'provider' | 'operator' | 'runtime'

/** What is known of an error of one kind. */
type ErrorRow = {
  wire: ErrorCode
  /** The value of `raised_by`; absent for errors of the caller's request. */
  raisedBy: string | null
  blame: Blame
  /** What it is where it lies outside the envelope (wrong method, size, Host); absent for what is told within it. */
  refusal?: RefusalKind
  retryable: boolean
  meaning: string
}

/** Identity function that keeps the keys and types every row. */
export const rows = <K extends string>(table: Record<K, ErrorRow>): Record<K, ErrorRow> => table
