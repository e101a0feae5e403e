/** Background work of syncs: continues an app's run for a turn, and starts scheduled runs. */

import { eq, type SQL, sql } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { isDatabaseUnavailable } from '../../database/unavailable.ts'
import { type Gate, releaseProbe, requestCall } from '../catalogue/apps/outages.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { fail, recordSyncFailure, SyncFailure } from './failures.ts'
import { createKnownAccounts } from './known-accounts.ts'
import { walkOffers } from './listing.ts'
import { PHASES } from './phases.ts'
import {
  keepLease,
  LeaseLost,
  planNext,
  releaseRun,
  startRun,
  takeLease,
  type Walk,
  waitUntil,
} from './runs.ts'
import { DEFAULTS, readSettings } from './settings.ts'
import { beginTurn } from './turn.ts'

export const SYNC_JOB: JobHandler = {
  turnOf: (appId) => `sync ${appId}`,

  async handle(db, appId, parts) {
    await beginScheduled(db, appId, parts)
    const walk = await takeUp(db, appId, parts)
    if (walk) await carryOut(walk)
  },

  /**
   * Returns runs with work to do now, including runs leased by a host that may be dead, and then apps whose
   * scheduled sync is due.
   */
  due: (db) => waiting(db),

  // Jobs fail for good only through an unreachable database or killed hosts. The run is unchanged, and due.
  gaveUp: async () => {},
}

/** Maximum number of runs, and of apps with a due sync, per look. */
const MAX_WAITING = 50

/** Condition: no host has the lease of the run. */
const IS_FREE = sql`(lease_until is null or lease_until < clock_timestamp())`

/**
 * Returns the apps whose sync is to be continued or started, longest waiting first. Releasing a run updates
 * its time, so that a run among hundreds comes after all others had their turn.
 */
export async function waiting(db: Db, isRun: SQL = sql`true`): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select id from (
      (select app_id as id, updated_at as since from sync_runs where state = 'RUNNING'
        and ${isRun}
        and (next_try_at is null or next_try_at <= clock_timestamp())
        order by updated_at, id limit ${MAX_WAITING})
      union all
      (select apps.id, ${dueSince} as since from apps left join sync_settings s on s.app_id = apps.id
        where ${isScheduled} and not exists (
          select from sync_runs where sync_runs.app_id = apps.id and sync_runs.state = 'RUNNING')
        order by since, apps.id limit ${MAX_WAITING})
    ) as due order by since, id`)
  return rows.map(({ id }) => id)
}

/** Time when the next sync of an app in `apps`, with its `sync_settings` s, is due. */
const dueSince = sql`coalesce(s.next_at, apps.created_at + ${DEFAULTS.everyHours} * interval '1 hour')`

/** Condition on `apps` with their `sync_settings` s: the next sync is due. */
const isScheduled = sql`apps.sealed_connection is not null and apps.disconnected_at is null
  and coalesce(s.every_hours, ${DEFAULTS.everyHours}) > 0
  and ${dueSince} <= now()`

async function beginScheduled(db: Db, appId: string, parts: RequestContext): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await isDue(tx, appId))) return
    const [app] = await tx.select().from(apps).where(eq(apps.id, appId)).for('no key update')
    // Check again under the lock: its previous holder may have disconnected the app or started its sync.
    if (!app || !(await isDue(tx, appId))) return
    const settings = await readSettings(tx, appId)
    const connector = parts.connectors.find(app.connectorId ?? '')
    // The connector cannot list accounts, or is not served. The schedule returns to it later.
    const lists =
      connector !== null && Object.hasOwn(connector.manifest.capabilities, 'list_accounts')
    if (!lists) return planNext(tx, app, settings.everyHours)
    await startRun(tx, { domainId: app.domainId, userId: null }, app, parts.send)
  })
}

async function isDue(tx: Db, appId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from apps left join sync_settings s on s.app_id = apps.id
    where apps.id = ${appId} and ${isScheduled}`)
  return rows.length > 0
}

/** A walk whose turn may be extended, and which may lose its lease. */
type Turn = Walk & { longer(): boolean; lose(): void }

/** Takes the lease of the run to continue. Returns null if there is none. */
async function takeUp(db: Db, appId: string, parts: RequestContext): Promise<Turn | null> {
  const [app] = await db.select().from(apps).where(eq(apps.id, appId))
  if (!app) return null
  const taken = await takeLease(db, appId)
  if (!taken) return null
  // The run of a disconnected app is taken up in order to end it.
  const gate: Gate =
    app.disconnectedAt === null
      ? await requestCall(db, app, await parts.now(db))
      : { open: true, probe: null }
  if (!gate.open) {
    await waitUntil(db, taken.run, taken.lease, gate.until)
    return null
  }
  const settings = await readSettings(db, appId)
  const lost = new AbortController()
  const signal = AbortSignal.any([parts.signal, lost.signal])
  const turn = beginTurn(parts.pace.turnMs)
  return {
    ...{ db, app, settings, gate, known: createKnownAccounts(), ...taken },
    parts: { ...parts, signal, cause: { kind: 'sync', id: String(taken.run.id) } },
    over: () => signal.aborted || turn.over(),
    longer: () => !signal.aborted && turn.longer(),
    lose: () => lost.abort(),
  }
}

async function carryOut(walk: Turn): Promise<void> {
  const { db, run, lease, parts, app } = walk
  const end = keepLease(walk, parts.pace.renewMs, () => walk.lose())
  try {
    if (app.disconnectedAt !== null || app.sealedConnection === null)
      return await fail(walk, 'The app was disconnected')
    // Even a connector that can list nothing reaches the first phase.
    if (run.phase === 'begin' && !walkOffers(walk, 'list_accounts'))
      return await fail(walk, `The connector ${app.connectorId} cannot list accounts`)
    for (;;) {
      const before = run.phase
      await PHASES[before](walk)
      if (before === 'end' || (before === 'judge' && run.phase === 'judge')) return
      // If no other run waits, the next turn would go to this run anyway.
      if (
        walk.over() &&
        (parts.signal.aborted || (await waiting(db, IS_FREE)).length > 0 || !walk.longer())
      )
        break
    }
    // `due` finds it again among the waiting runs.
    await releaseRun(db, run, lease)
  } catch (error) {
    await afterError(walk, error)
  } finally {
    end()
    // The probe made no call. Leave it to another host.
    const { probe } = walk.gate
    if (probe) await releaseProbe(db, app, probe, await parts.now(db))
  }
}

/**
 * Records a failure in the run. Only an error of an unreachable database is rethrown, for others to retry.
 */
async function afterError(walk: Walk, error: unknown): Promise<void> {
  const { db, run, lease, parts } = walk
  // The lease is still held if the cause is a disconnected app. The next turn ends the run.
  if (error instanceof LeaseLost) return releaseRun(db, run, lease)
  if (isDatabaseUnavailable(error)) throw error
  // The host stops, or the lease is lost. Aborted calls are not failures of the system.
  if (parts.signal.aborted) return releaseRun(db, run, lease)
  await recordSyncFailure(walk, asSyncFailure(error)).catch((lost) => {
    if (!(lost instanceof LeaseLost)) throw lost
  })
}

function asSyncFailure(error: unknown): SyncFailure {
  if (error instanceof SyncFailure) return error
  // Credentials that cannot be decrypted: the message explains what to do.
  if (error instanceof CoreError) return new SyncFailure(error.message, { final: true })
  let last = error
  while (last instanceof Error && last.cause instanceof Error) last = last.cause
  // The innermost message is the database's own, without the written values.
  return new SyncFailure(`Keyway itself failed: ${messageOf(last)}`)
}
