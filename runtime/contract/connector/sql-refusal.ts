import type { ErrorCode } from '../errors/error-codes.ts'

/** What a refusal of a database becomes. `status`: the closest one of HTTP, for records, metrics and cases. */
export type SqlRefusal = { name: string; wire: ErrorCode; status: number }
