/** Whether a review can start from the last syncs of an app. */
import { and, desc, eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { syncRuns } from '../../database/schema/sync.ts'
import type { Connectors } from '../kernel/context/connectors.ts'
import type { RunRow } from '../sync/runs.ts'

/** Maximum age of a complete sync from which a review starts, in milliseconds. */
const FRESH_MS = 7 * 24 * 3600 * 1000

/**
 * Readiness of an app:
 * - ready: lines can be taken from `run`, which is null for an app without a connector
 * - wait: something in progress, or an action of people, has to end first
 * - sync: a new sync is needed
 */
export type ReviewReadiness =
  | { kind: 'ready'; run: RunRow | null }
  | { kind: 'wait' | 'sync'; problem: string }

type Last = { latest: RunRow | null; complete: RunRow | null }

/** Judges the last syncs of an app. Pure. @param freshRun sync that was already started for this review */
export function judgeSyncs(
  { latest, complete }: Last,
  freshRun: number | null,
  now: Date,
): ReviewReadiness {
  if (latest?.state === 'RUNNING')
    return { kind: 'wait', problem: 'a sync is running; the review waits for its end' }
  const isLast = latest !== null && latest.id === complete?.id
  const ageMs = now.getTime() - (complete?.endedAt ?? new Date(0)).getTime()
  if (isLast && complete && ageMs <= FRESH_MS) return { kind: 'ready', run: complete }
  const why =
    latest === null
      ? 'it was never synced'
      : isLast
        ? 'its last sync is older than 7 days'
        : `its last sync is ${latest.state}${latest.problem ? `: ${latest.problem}` : ''}`
  if (freshRun === null || (latest?.id ?? 0) < freshRun || isLast)
    return {
      kind: 'sync',
      problem: `${why}; a new sync was started, and the review waits for its end`,
    }
  return {
    kind: 'wait',
    problem: `${why}, although it was started for this review; fix the problem, then sync the app with POST /apps/{app_id}/sync`,
  }
}

/** Returns the readiness of an app. */
export async function readinessOf(
  db: Db,
  app: AppRow,
  freshRun: number | null,
  now: Date,
  connectors: Connectors,
): Promise<ReviewReadiness> {
  if (app.connectorId === null) return { kind: 'ready', run: null }
  const { latest, complete } = await lastRuns(db, app.id)
  const judged = judgeSyncs({ latest, complete }, freshRun, now)
  if (judged.kind !== 'sync') return judged
  const obstacle = obstacleOf(app, connectors)
  return obstacle === null ? judged : { kind: 'wait', problem: obstacle }
}

/** Returns why an app cannot be synced now, or null. */
function obstacleOf(
  { id, connectorId, disconnectedAt, sealedConnection }: AppRow,
  connectors: Connectors,
) {
  if (disconnectedAt !== null || sealedConnection === null)
    return `it is not connected; connect it with PUT /apps/${id}`
  const connector = connectors.find(connectorId ?? '')
  if (!connector) return `its connector ${connectorId} is not served; see keyway list`
  if (!Object.hasOwn(connector.manifest.capabilities, 'list_accounts'))
    return `its connector ${connectorId} cannot list accounts`
  return null
}

/** Returns the last sync run of an app, and the last complete one. */
export async function lastRuns(db: Db, appId: string): Promise<Last> {
  const last = async (state?: 'SUCCEEDED') => {
    const [run] = await db
      .select()
      .from(syncRuns)
      .where(and(eq(syncRuns.appId, appId), state && eq(syncRuns.state, state)))
      .orderBy(desc(syncRuns.id))
      .limit(1)
    return run ?? null
  }
  return { latest: await last(), complete: await last('SUCCEEDED') }
}
