/** The background work of syncs: goes on with an app's run for a while, and begins those of the schedule. */

import { eq, type SQL, sql } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import { isAway } from '../../database/away.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { enterApp, type Gate, leaveProbe } from '../catalogue/apps/outages.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { createKnownAccounts } from './known.ts'
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
import { fail, stumble, Trouble } from './trouble.ts'
import { beginTurn } from './turn.ts'

export const SYNC_JOB: JobHandler = {
  turnOf: (appId) => `sync ${appId}`,

  async handle(db, appId, parts) {
    await beginScheduled(db, appId, parts)
    const walk = await takeUp(db, appId, parts)
    if (walk) await carryOut(walk)
  },

  /** Runs that want something done now, also those that a host has: it may be gone. Then what the schedule begins. */
  due: (db) => waiting(db),

  // Only a database that is away, or hosts that are killed, end jobs so; the run is as it was, and due.
  gaveUp: async () => {},
}

/** Most runs, and apps whose sync is due, that are looked at at once. */
const MOST_WAITING = 50

/** Runs that no host has. */
const IS_FREE = sql`(lease_until is null or lease_until < clock_timestamp())`

/**
 * Apps whose sync wants to be gone on with, or begun; those that have waited longest first. A run is touched
 * when it is given back, so that one among hundreds comes after all others had their turn.
 */
export async function waiting(db: Db, isRun: SQL = sql`true`): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select id from (
      (select app_id as id, updated_at as since from sync_runs where state = 'RUNNING'
        and ${isRun}
        and (next_try_at is null or next_try_at <= clock_timestamp())
        order by updated_at, id limit ${MOST_WAITING})
      union all
      (select apps.id, ${dueSince} as since from apps left join sync_settings s on s.app_id = apps.id
        where ${isScheduled} and not exists (
          select from sync_runs where sync_runs.app_id = apps.id and sync_runs.state = 'RUNNING')
        order by since, apps.id limit ${MOST_WAITING})
    ) as due order by since, id`)
  return rows.map(({ id }) => id)
}

/** When the next sync of an app in `apps`, with its `sync_settings` s, is due. */
const dueSince = sql`coalesce(s.next_at, apps.created_at + ${DEFAULTS.everyHours} * interval '1 hour')`

/** A condition on `apps` with their `sync_settings` s: the next sync is due. */
const isScheduled = sql`apps.sealed_connection is not null and apps.disconnected_at is null
  and coalesce(s.every_hours, ${DEFAULTS.everyHours}) > 0
  and ${dueSince} <= now()`

async function beginScheduled(db: Db, appId: string, parts: RequestContext): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await isDue(tx, appId))) return
    const [app] = await tx.select().from(apps).where(eq(apps.id, appId)).for('no key update')
    // Once more behind the lock: who had it may have disconnected the app, or begun its sync.
    if (!app || !(await isDue(tx, appId))) return
    const settings = await readSettings(tx, appId)
    const connector = parts.connectors.find(app.connectorId ?? '')
    // One that lists nobody, or is away: the schedule comes back to it.
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

/** A walk whose turn may be longer, and which may lose its lease. */
type Turn = Walk & { longer(): boolean; lose(): void }

/** The run that wants to be gone on with, under a lease; null where there is none. */
async function takeUp(db: Db, appId: string, parts: RequestContext): Promise<Turn | null> {
  const [app] = await db.select().from(apps).where(eq(apps.id, appId))
  if (!app) return null
  const taken = await takeLease(db, appId)
  if (!taken) return null
  // One that was disconnected is taken up to be ended.
  const gate: Gate =
    app.disconnectedAt === null
      ? await enterApp(db, app, await parts.now(db))
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
    // The first phase of all is also asked of a connector that has nothing to list.
    if (run.phase === 'begin' && !walkOffers(walk, 'list_accounts'))
      return await fail(walk, `The connector ${app.connectorId} cannot list accounts`)
    for (;;) {
      const before = run.phase
      await PHASES[before](walk)
      if (before === 'end' || (before === 'judge' && run.phase === 'judge')) return
      // Nobody else waits: the next turn would be this one's as well.
      if (
        walk.over() &&
        (parts.signal.aborted || (await waiting(db, IS_FREE)).length > 0 || !walk.longer())
      )
        break
    }
    // It is found again with all that waits (`due`).
    await releaseRun(db, run, lease)
  } catch (error) {
    await afterError(walk, error)
  } finally {
    end()
    // Nothing was called: another finds out.
    const { probe } = walk.gate
    if (probe) await leaveProbe(db, app, probe, await parts.now(db))
  }
}

/** What went wrong is noted in the run: only a database that is away is for others to try again. */
async function afterError(walk: Walk, error: unknown): Promise<void> {
  const { db, run, lease, parts } = walk
  // Still ours, where it is the app that was disconnected: the next turn ends the run.
  if (error instanceof LeaseLost) return releaseRun(db, run, lease)
  if (isAway(error)) throw error
  // The host stops, or the lease is gone: that its calls were cut off is no failure of theirs.
  if (parts.signal.aborted) return releaseRun(db, run, lease)
  await stumble(walk, asTrouble(error)).catch((lost) => {
    if (!(lost instanceof LeaseLost)) throw lost
  })
}

function asTrouble(error: unknown): Trouble {
  if (error instanceof Trouble) return error
  // Credentials that cannot be opened: its words say what to do.
  if (error instanceof CoreError) return new Trouble(error.message, { final: true })
  let last = error
  while (last instanceof Error && last.cause instanceof Error) last = last.cause
  // The innermost words are the database's own, without the values that were written.
  return new Trouble(`Keyway itself failed: ${messageOf(last)}`)
}
