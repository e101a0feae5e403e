/** How a transaction begins. */
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'

export type Beginning = PgTransactionConfig & {
  /** Settings by PostgreSQL's names; they hold until the transaction ends, and cost no message. */
  settings?: Readonly<Record<string, string>>
  /** It is not retried where contention aborts it. */
  once?: true
}
