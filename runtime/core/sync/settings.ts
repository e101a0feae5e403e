/** Sync settings of apps: those that operators have set, and the defaults. */

import { and, eq, sql } from 'drizzle-orm'
import { CoreError, notFound } from '../../contract/errors/problem.ts'
import type {
  IdentityMapping,
  MatchRule,
  SyncSettings,
  SyncSettingsInput,
} from '../../contract/models/sync.ts'
import { withoutUndefined } from '../../contract/schema/record.ts'
import { isTaken } from '../../database/contention.ts'
import type { Db } from '../../database/database.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import { syncSettings } from '../../database/schema/sync.ts'
import { appTarget } from '../catalogue/apps/apps.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'
import { isId } from '../kernel/by-id.ts'

/** Default settings. */
export const DEFAULTS = {
  everyHours: 24,
  pageSize: 1000,
  maxRows: 50_000_000,
  maxRepeatedPercent: 90,
} as const

export type SyncConfig = {
  everyHours: number
  pageSize: number
  maxRows: number
  maxRepeatedPercent: number
  matchRules: MatchRule[]
  identity: IdentityMapping | null
}

type Row = typeof syncSettings.$inferSelect

const settingsOf = (row: Row | undefined): SyncConfig => ({
  everyHours: row?.everyHours ?? DEFAULTS.everyHours,
  pageSize: row?.pageSize ?? DEFAULTS.pageSize,
  maxRows: row?.maxRows ?? DEFAULTS.maxRows,
  maxRepeatedPercent: row?.maxRepeatedPercent ?? DEFAULTS.maxRepeatedPercent,
  matchRules: row?.matchRules ?? [],
  identity: row?.identity ?? null,
})

export async function readSettings(db: Db, appId: string): Promise<SyncConfig> {
  const [row] = await db.select().from(syncSettings).where(eq(syncSettings.appId, appId))
  return settingsOf(row)
}

/** Reads an app of a domain for its operator. @throws CoreError `not_found` */
async function appOf(db: Db, domainId: string, id: string): Promise<AppRow> {
  const [row] = isId(id)
    ? await db
        .select()
        .from(apps)
        .where(and(eq(apps.id, id), eq(apps.domainId, domainId)))
    : []
  if (!row) throw notFound('App')
  return row
}

/** Reads the settings in their wire form. @throws CoreError `not_found` */
export async function readSyncSettings(
  db: Db,
  domainId: string,
  id: string,
): Promise<SyncSettings> {
  const app = await appOf(db, domainId, id)
  const [row] = await db.select().from(syncSettings).where(eq(syncSettings.appId, app.id))
  return toWire(app.id, row)
}

function toWire(appId: string, row: Row | undefined): SyncSettings {
  const { everyHours, pageSize, maxRows, maxRepeatedPercent, matchRules, identity } =
    settingsOf(row)
  return {
    app_id: appId,
    every_hours: everyHours,
    page_size: pageSize,
    max_rows: maxRows,
    max_repeated_percent: maxRepeatedPercent,
    match_rules: matchRules,
    identity_source: identity,
    next_at: row?.nextAt?.toISOString() ?? null,
  }
}

/**
 * Changes the given settings. A dry run only returns the result.
 *
 * @throws CoreError `not_found`, `conflict` if another app is the identity source
 */
export async function changeSettings(
  db: Db,
  actor: Actor,
  id: string,
  input: SyncSettingsInput,
  dryRun: boolean,
): Promise<SyncSettings> {
  const app = await appOf(db, actor.domainId, id)
  if (input.identity_source) await onlySource(db, app)
  const values = withoutUndefined({
    everyHours: input.every_hours,
    pageSize: input.page_size,
    maxRows: input.max_rows,
    maxRepeatedPercent: input.max_repeated_percent,
    matchRules: input.match_rules,
    identity: input.identity_source,
  })
  const hours = input.every_hours
  const nextAt = hours === undefined ? {} : { nextAt: sql`now() + ${hours} * interval '1 hour'` }
  return db
    .transaction(async (tx) => {
      const [row] = await tx
        .insert(syncSettings)
        .values({ appId: app.id, domainId: app.domainId, ...values, ...nextAt })
        .onConflictDoUpdate({
          target: syncSettings.appId,
          set: { ...values, ...nextAt, updatedAt: sql`now()` },
        })
        .returning()
      if (dryRun) throw new DryRun(toWire(app.id, row))
      await recordActivity(tx, actor, 'APP_SYNC_SETTINGS_CHANGED', [appTarget(app)], {
        fields: Object.keys(input),
      })
      return toWire(app.id, row)
    })
    .catch(async (error) => {
      if (error instanceof DryRun) return error.settings
      // Another app became the source after the check.
      if (isTaken(error)) await onlySource(db, app)
      throw error
    })
}

/** Error that rolls back a dry run. */
class DryRun extends Error {
  readonly settings: SyncSettings

  constructor(settings: SyncSettings) {
    super('a dry run')
    this.settings = settings
  }
}

async function onlySource(db: Db, app: AppRow): Promise<void> {
  const [other] = await db
    .select({ name: apps.name, id: apps.id })
    .from(syncSettings)
    .innerJoin(apps, eq(apps.id, syncSettings.appId))
    .where(
      and(
        eq(syncSettings.domainId, app.domainId),
        sql`${syncSettings.identity} is not null and ${syncSettings.appId} <> ${app.id}`,
      ),
    )
  if (other)
    throw new CoreError(
      'conflict',
      `${other.name} (${other.id}) is the identity source; set its identity_source to null first`,
    )
}
