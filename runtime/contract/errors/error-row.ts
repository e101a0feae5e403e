/** The type of a row of the error tables. */
import type { ErrorCode } from './error-codes.ts'
import type { RefusalKind } from './problem.ts'

/** The party responsible for an error. Decides the log level, and whether to alert anyone. */
export type Blame = 'caller' | 'connector' | 'provider' | 'operator' | 'runtime'

/** An error of one kind. */
export type ErrorRow = {
  wire: ErrorCode
  /** The value of `raised_by`; null for errors of the caller's request. */
  raisedBy: string | null
  blame: Blame
  /** The refusal outside the envelope (wrong method, size, Host); absent for errors reported inside it. */
  refusal?: RefusalKind
  retryable: boolean
  meaning: string
}

/** Returns the table unchanged. Keeps the keys and checks the type of every row. */
export const rows = <K extends string>(table: Record<K, ErrorRow>): Record<K, ErrorRow> => table

/** Makes the row of an error of the caller's request. */
export const caller = (wire: ErrorCode, meaning: string, refusal?: RefusalKind): ErrorRow => ({
  ...{ wire, raisedBy: null, blame: 'caller', retryable: false, meaning },
  ...(refusal === undefined ? {} : { refusal }),
})
