/** Records that a connector was put in quarantine on this host, so that people hear of it. */
import { recordActivity } from '../../core/kernel/audit/activity.ts'
import type { DatabaseService } from '../../database/service.ts'

type Means = {
  /** Null: the host has none. */
  database: Pick<DatabaseService, 'db' | 'domainId'> | null
  /** What is served, and what waits to be. */
  list(): readonly { id: string | null; digest?: string | null }[]
}

/** Records it in the name of the host; nothing while the database is away. */
export async function noteQuarantine(digest: string, { database, list }: Means): Promise<void> {
  const db = database?.db()
  const domainId = database?.domainId()
  const id = list().find((one) => one.digest === digest)?.id
  if (!db || !domainId || !id) return
  const target = { target_type: 'Connector', name: id, id }
  await db.transaction((tx) =>
    recordActivity(tx, { domainId, userId: null }, 'CONNECTOR_QUARANTINED', [target], {}),
  )
}
