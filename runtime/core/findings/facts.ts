/** Facts behind findings: the results of complete syncs, and the effects of requests and reviews. */
import { desc, eq, type SQL, sql } from 'drizzle-orm'
import semver from 'semver'
import type { Beginning, Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { packages } from '../../database/schema/lifecycle.ts'
import { isShown, standsFor } from '../catalogue/store/requestable.ts'
import { associationSpansOf } from '../history/association-spans.ts'
import type { Connectors } from '../kernel/context/connectors.ts'
import { readSettings } from '../sync/settings.ts'
import type { AccessFacts, AccountFacts, ObservedApp } from './rules.ts'

type AppFacts = {
  tells_use: boolean
  first_seen: Date | null
  last_run: string | null
  last_complete: Date | null
}

/** Returns the facts about an app as a whole, and its last complete sync run. */
export async function appFacts(
  db: Db,
  app: AppRow,
  connectors: Connectors,
): Promise<{ facts: ObservedApp; lastRun: number | null }> {
  const { rows } = await db.execute<AppFacts>(sql`
    select exists (select from accounts o
        where o.app_id = ${app.id} and (o.last_login is not null or o.last_activity is not null)) as tells_use,
      (select min(since) from account_spans where domain_id = ${app.domainId} and app_id = ${app.id}) as first_seen,
      r.id as last_run, r.ended_at as last_complete
    from (select 1) one left join lateral (select id, ended_at from sync_runs
      where app_id = ${app.id} and state = 'SUCCEEDED' order by id desc limit 1) r on true`)
  const [seen] = rows
  const { everyHours } = await readSettings(db, app.id)
  const connector = app.connectorId === null ? null : connectors.find(app.connectorId)
  const facts = {
    appId: app.id,
    tellsUse: seen?.tells_use ?? false,
    firstSeen: dateOf(seen?.first_seen),
    isConnected: app.sealedConnection !== null && app.disconnectedAt === null,
    syncs: connector !== null && Object.hasOwn(connector.manifest.capabilities, 'list_accounts'),
    connectedAt: app.createdAt,
    lastComplete: dateOf(seen?.last_complete),
    everyHours,
    servedVersion: connector?.version ?? null,
    newerVersion: connector === null ? null : await newerThan(db, app.domainId, connector),
  }
  const lastRun = seen?.last_run ?? null
  return { facts, lastRun: lastRun === null ? null : Number(lastRun) }
}

/** Converts a timestamp. Raw SQL bypasses drizzle, so the driver may return it as a string. */
const dateOf = (value: Date | string | null | undefined): Date | null =>
  value === null || value === undefined ? null : new Date(value)

/** Returns the newest uploaded version of a connector that is newer than the served one, or null. */
async function newerThan(
  db: Db,
  domainId: string,
  { id, version }: { id: string; version: string },
): Promise<string | null> {
  const rows = await db
    .select({ version: packages.version })
    .from(packages)
    .where(sql`${eq(packages.domainId, domainId)} and ${eq(packages.connector, id)}`)
    .orderBy(desc(packages.uploadedAt))
    .limit(100)
  const newer = rows
    .map((one) => one.version)
    .filter((one) => semver.valid(one) && semver.valid(version) && semver.gt(one, version))
  return semver.rsort(newer)[0] ?? null
}

type HeldRow = {
  id: number
  label: string
  type: string
  since: string
  explained: boolean
  removed_at: string | null
}

type AccountRow = {
  account_id: string
  unique_identifier: string
  account_type: AccountFacts['type']
  status: string | null
  user_id: string | null
  user_status: string | null
  since: string
  used_at: string | null
  removed_at: string | null
  held: HeldRow[] | null
}

/** Ids of the entitlements of an app that can be requested, and of those that are break-glass. */
type Askable = { requestable: ReadonlySet<number>; breakGlass: ReadonlySet<number> }

/** Disables nested loops: without statistics, as after a first sync, the planner compares all pairs. */
const BY_SETS: Beginning = { settings: { enable_nestloop: 'off' } }

/** Reads the requestable entitlements of an app. Runs once per look: there are fewer of them than holders. */
export async function requestableEntitlementsOf(db: Db, appId: string): Promise<Askable> {
  const { rows } = await db.transaction(
    (tx) =>
      tx.execute<{ id: string; requestable: boolean; break_glass: boolean }>(sql`
        select e.id, ${isShown(sql`p`)} as requestable, g.id is not null as break_glass
        from requestable_permissions p join entitlements e on ${standsFor(sql`p`, sql`e`)}
        left join app_store_settings store on store.app_id = p.app_id
        left join break_glass g on g.id = p.id
        where p.app_id = ${appId} and e.app_id = ${appId}`),
    BY_SETS,
  )
  const those = (which: (row: (typeof rows)[number]) => boolean) =>
    new Set(rows.filter(which).map(({ id }) => Number(id)))
  return {
    requestable: those((row) => row.requestable),
    breakGlass: those((row) => row.break_glass),
  }
}

/** Position of a walk over the accounts of an app. */
type Place = { identifier: string; accountId: string }
export const BEGIN: Place = { identifier: '', accountId: '00000000-0000-0000-0000-000000000000' }

/** Returns the next accounts of an app, ordered by their id in it, with the entitlements they hold. */
export async function nextAccountsHeld(
  db: Db,
  { id: appId, domainId }: Pick<AppRow, 'id' | 'domainId'>,
  askable: Askable,
  after: Place,
  most: number,
): Promise<{ accounts: AccountFacts[]; last: Place | null }> {
  const held = associationSpansOf({
    domainId: sql`${domainId}`,
    appId: sql`${appId}`,
    accountId: sql`b.account_id`,
  })
  const { rows } = await db.execute<AccountRow>(sql`
    with batch as materialized (
      select s.account_id, s.unique_identifier, s.account_type, s.status, s.user_id, s.since
      from account_spans s
      where s.domain_id = ${domainId} and s.app_id = ${appId} and s.until is null
        and (s.unique_identifier, s.account_id) > (${after.identifier}, ${after.accountId}::uuid)
        and s.unique_identifier >= ${after.identifier}
      order by s.unique_identifier, s.account_id limit ${most}
    )
    select b.*, u.status as user_status, greatest(a.last_login, a.last_activity) as used_at,
      ${removedAt(sql`i.entitlement_id is null`)} as removed_at, held.list as held
    from batch b
    left join accounts a on a.id = b.account_id
    left join users u on u.id = b.user_id
    left join lateral (
      select json_agg(json_build_object('id', e.id, 'label', e.label, 'type', e.entitlement_type, 'since', h.since,
          'explained', exists (select from reason_spans r
            where r.user_id = b.user_id and r.until is null and r.carried_app_id = ${appId}
              and r.entitlement ->> 'entitlementId' = e.external_id
              and r.entitlement ->> 'resourceId' = e.resource_id
              and r.entitlement ->> 'entitlementType' = e.entitlement_type),
          'removed_at', ${removedAt(sql`i.entitlement_id = e.id`)})) as list
      from ${held} h join entitlements e on e.id = h.entitlement_id where h.until is null
    ) held on true
    order by b.unique_identifier, b.account_id`)
  const last = rows.at(-1)
  return {
    accounts: rows.map((row) => toFacts(row, askable)),
    last: last ? { identifier: last.unique_identifier, accountId: last.account_id } : null,
  }
}

/** Time at which an access review last removed an item of the account `b`. */
const removedAt = (which: SQL): SQL => sql`(select max(i.gone_at) from access_review_items i
  where i.account_id = b.account_id and i.state = 'REMOVED' and ${which})`

const toFacts = (row: AccountRow, askable: Askable): AccountFacts => ({
  accountId: row.account_id,
  type: row.account_type,
  status: row.status,
  userId: row.user_id,
  userStatus: row.user_status,
  since: new Date(row.since),
  usedAt: dateOf(row.used_at),
  removedAt: dateOf(row.removed_at),
  held: (row.held ?? []).map((held) => toHeld(held, askable)),
})

const toHeld = (row: HeldRow, askable: Askable): AccessFacts => ({
  entitlementId: row.id,
  label: row.label,
  type: row.type,
  since: new Date(row.since),
  explained: row.explained,
  requestable: askable.requestable.has(row.id),
  breakGlass: askable.breakGlass.has(row.id),
  removedAt: dateOf(row.removed_at),
})
