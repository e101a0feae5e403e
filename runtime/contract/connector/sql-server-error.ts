import type { ErrorCode } from '../errors/error-codes.ts'

/**
 * The error of a call that an error of a database becomes. `status`: closest HTTP status, for records, metrics
 * and cases.
 */
export type SqlServerError = { name: string; wire: ErrorCode; status: number }
