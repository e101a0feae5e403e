/** What the rest of the runtime knows of the database: the handle for queries, and the open connection. */
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { AnswerWatch } from './answers.ts'
import type { SharedClock } from './shared-clock.ts'

export type Db = NodePgDatabase

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
