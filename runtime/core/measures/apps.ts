/** State of apps: their syncs, and apps that are paused because their system does not respond. */
import { sql } from 'drizzle-orm'
import { MAX_APPS, only, type Readings } from '../../contract/endpoints/metrics.ts'
import type { Db } from '../../database/database.ts'
import type { Connectors } from '../kernel/context/connectors.ts'
import { DEFAULTS } from '../sync/settings.ts'

type SyncRow = {
  app_id: string
  connector: string | null
  state: string | null
  ended: string | null
  behind: string
  every_hours: number
}

/** Reads the last run and the last successful run of each app, from an index, oldest apps first. */
export async function measureSyncs(
  db: Db,
  connectors: Pick<Connectors, 'find'>,
): Promise<Readings> {
  const { rows } = await db.execute<SyncRow>(sql`
    select a.id as app_id, a.connector_id as connector, last.state,
      extract(epoch from good.ended_at) as ended,
      extract(epoch from clock_timestamp() - coalesce(good.ended_at, a.created_at)) as behind,
      coalesce(s.every_hours, ${DEFAULTS.everyHours}) as every_hours
    from (select id, connector_id, created_at from apps
        where sealed_connection is not null and disconnected_at is null
        order by created_at, id limit ${MAX_APPS + MAX_OMITTED_APPS}) a
      left join sync_settings s on s.app_id = a.id
      left join lateral (select state from sync_runs
        where app_id = a.id order by id desc limit 1) last on true
      left join lateral (select ended_at from sync_runs
        where app_id = a.id and state = 'SUCCEEDED' order by id desc limit 1) good on true
    order by a.created_at, a.id`)
  const synced = rows.filter(({ connector }) => listsAccounts(connectors, connector))
  const scheduled = synced.filter(({ every_hours }) => every_hours > 0)
  return {
    keyway_sync_state: synced.map((row) => ({
      labels: { ...labelsOf(row), state: row.state ?? 'NEVER' },
      value: 1,
    })),
    keyway_sync_last_success_timestamp_seconds: synced.flatMap((row) =>
      row.ended === null ? [] : [{ labels: labelsOf(row), value: Number(row.ended) }],
    ),
    keyway_sync_behind_seconds: scheduled.map((row) => ({
      labels: labelsOf(row),
      value: Math.max(0, Number(row.behind)),
    })),
    keyway_sync_interval_seconds: scheduled.map((row) => ({
      labels: labelsOf(row),
      value: row.every_hours * 3600,
    })),
  }
}

/** Maximum number of apps read above the limit, in order to report how many are left out. */
const MAX_OMITTED_APPS = 1000

type AppLabels = { app_id: string; connector: string | null }
const labelsOf = ({ app_id, connector }: AppLabels) => ({ app_id, connector: connector ?? '' })

/**
 * Reports whether an app can be synced. Connectors without `list_accounts` are not scheduled. A missing
 * connector counts as able, so its syncs are overdue like any others.
 */
function listsAccounts(connectors: Pick<Connectors, 'find'>, id: string | null): boolean {
  const connector = id === null ? null : connectors.find(id)
  return connector === null || Object.hasOwn(connector.manifest.capabilities, 'list_accounts')
}

export async function outages(db: Db): Promise<Readings> {
  const { rows } = await db.execute<AppLabels & { seconds: string; n: string }>(sql`
    select o.app_id, a.connector_id as connector,
      extract(epoch from clock_timestamp() - o.since) as seconds
    from app_outages o join apps a on a.id = o.app_id
    order by o.since, o.app_id limit ${MAX_APPS + MAX_OMITTED_APPS}`)
  return {
    keyway_apps_paused: only(rows.length),
    keyway_app_paused_seconds: rows.map((row) => ({
      labels: labelsOf(row),
      value: Math.max(0, Number(row.seconds)),
    })),
  }
}
