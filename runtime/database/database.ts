/** What the rest of the runtime knows of the database: the handle for queries, the row of an answer, and the open connection. */
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { AnswerWatch } from './answers.ts'
import type { SharedClock } from './shared-clock.ts'

export type Db = NodePgDatabase

/** The row that a statement with `returning` has written. @throws Error if there is none: a defect of ours */
export function written<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('a statement has written no row')
  return row
}

/** The row of a statement that has exactly one. @throws Error if there is none */
export const one = <T>(rows: readonly T[]): T => written(rows[0])

/** Connections of this host, and questions that wait for one. */
export type Connections = { busy: number; idle: number; waiting: number }

export type Database = {
  db: Db
  /** The one domain of this deployment. */
  domainId: string
  /** What is wrong with it, as text for /readyz; null while it serves. */
  waitingFor: AnswerWatch['words']
  connections(): Connections
  now: SharedClock['now']
  /** Hears what is said on a channel; the answer ends it. */
  listen(channel: string, hear: (said: string | null) => void): () => Promise<void>
  close(): Promise<void>
}

/** How a transaction begins. */
export type Beginning = PgTransactionConfig & {
  /** Settings by PostgreSQL's names; they hold until the transaction ends, and cost no message. */
  settings?: Readonly<Record<string, string>>
  /** It is not retried where contention aborts it. */
  once?: true
}
