import type { ErrorCode } from '../errors/error-codes.ts'

/**
 * The error that a refusal of a database becomes. `status`: closest HTTP status, for records, metrics and
 * cases.
 */
export type SqlRefusal = { name: string; wire: ErrorCode; status: number }
