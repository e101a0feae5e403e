/**
 * Spans of associations, read and written. What has ended, or is about to, is a row of `association_spans`. What is
 * held is the row of `associations` itself, which a sync writes, notes as seen (`seen_run`) and deletes: its span began when a complete run recorded
 * the run that saw it first (`sync_runs.recorded_at`). So a sync writes what it finds once.
 *
 * Associations of versions before have no first run: `association_spans` has their open spans too. So it is with all of them
 * as long as hosts of such a version may run beside this one (older-hosts.ts).
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { MOMENT, type Moment, spanHolds } from './as-of.ts'
import { olderHosts } from './older-hosts.ts'

/** Which spans: of an app, and below it of an account or an entitlement. Expressions of the question around it. */
type Which = {
  domainId: SQL
  appId: SQL
  accountId?: SQL
  entitlementId?: SQL
  /** Those that hold a moment. */
  at?: Moment
  /** So many of them, the first by account and entitlement: as indexes have them, without reading the others. */
  first?: number
}

/**
 * Spans of associations, in parentheses; after `lateral` where they depend on other rows of the question. Columns:
 * domain_id, app_id, account_id, entitlement_id, since, until, first_run, last_run, gone_run.
 */
export function associationSpansOf(which: Which): SQL {
  const { domainId, appId, accountId, entitlementId, at, first } = which
  const below = (row: SQL): SQL => sql`${row}.app_id = ${appId}
    ${accountId ? sql`and ${row}.account_id = ${accountId}` : sql``}
    ${entitlementId ? sql`and ${row}.entitlement_id = ${entitlementId}` : sql``}`
  const some = (order: SQL): SQL => (first ? sql`order by ${order} limit ${first}` : sql``)
  return sql`(
    (select written.domain_id, written.app_id, written.account_id, written.entitlement_id,
      written.since, written.until, written.first_run, written.last_run, written.gone_run
    from association_spans written
    where written.domain_id = ${domainId} and ${below(sql`written`)}
      ${at ? sql`and ${spanHolds('written', at)}` : sql``}
    ${some(sql`written.account_id, written.entitlement_id, written.since`)})
    union all
    (select found.domain_id, held.app_id, held.account_id, held.entitlement_id,
      found.recorded_at, null::timestamptz, found.recorded_by, null::bigint, null::bigint
    from associations held join sync_runs found on found.id = held.first_run
    where found.domain_id = ${domainId} and found.recorded_at is not null and ${below(sql`held`)}
      ${at instanceof Date ? sql`and found.recorded_at <= ${at}` : sql``}
    ${some(sql`held.account_id, held.entitlement_id`)}))`
}

/** Those of an account `a` with its `domain_id`, `app_id` and `account_id`, as rows of `account_spans` have them. */
export const heldBy = (a: SQL): SQL =>
  associationSpansOf({
    domainId: sql`${a}.domain_id`,
    appId: sql`${a}.app_id`,
    accountId: sql`${a}.account_id`,
  })

/** Those of an entitlement: `e` is its row of `entitlements`. */
export const holdersOf = (e: SQL): SQL =>
  associationSpansOf({
    domainId: sql`${e}.domain_id`,
    appId: sql`${e}.app_id`,
    entitlementId: sql`${e}.id`,
  })

/** An app whose associations are written. */
type OfApp = { appId: string; domainId: string }

/**
 * Deletes associations `gone` of an app that fit a condition, and keeps their spans, which `recordAssociations` ends.
 *
 * @returns how many were deleted
 */
export async function deleteAssociations(tx: Db, appId: string, which: SQL): Promise<number> {
  const { rows } = await tx.execute<{ n: string }>(sql`
    with gone as (
      delete from associations gone where gone.app_id = ${appId} and ${which}
      returning gone.account_id, gone.entitlement_id, gone.first_run
    ), kept as (
      insert into association_spans (domain_id, app_id, account_id, entitlement_id, since, first_run)
      select found.domain_id, found.app_id, gone.account_id, gone.entitlement_id,
        found.recorded_at, found.recorded_by
      from gone join sync_runs found on found.id = gone.first_run
      where found.recorded_at is not null
      order by gone.account_id, gone.entitlement_id
      on conflict do nothing
    )
    select count(*) as n from gone`)
  return Number(rows[0]?.n ?? 0)
}

/**
 * Records what a complete run found of associations: ends spans whose association is gone, and lets those begin that no
 * run had recorded before.
 *
 * @param ended What is set in spans that end.
 */
export async function recordAssociations(
  tx: Db,
  run: OfApp & { id: number },
  ended: SQL,
): Promise<void> {
  const open = sql`s.domain_id = ${run.domainId} and s.app_id = ${run.appId} and s.until is null`
  if (await isAny(tx, sql`association_spans s where ${open}`)) {
    const there = sql`h.app_id = ${run.appId} and h.account_id = s.account_id and h.entitlement_id = s.entitlement_id`
    await tx.execute(sql`
      update association_spans s set ${ended}
      where ${open} and not exists (select from associations h where ${there})`)
    await keepOlder(tx, open, there)
  }
  const older = await olderHosts(tx)
  if (older.mayBe) await writeSpans(tx, run)
  else if (older.were) await beginUnknown(tx, run)
  // Last: a host that renews its lease would wait for what comes behind it.
  await tx.execute(sql`
    update sync_runs set recorded_at = ${MOMENT}, recorded_by = ${run.id}
    where app_id = ${run.appId} and id <= ${run.id} and recorded_at is null`)
}

/** A condition on associations `h`: no span of theirs is written and open. */
const isUnwritten = ({ domainId, appId }: OfApp): SQL => sql`h.app_id = ${appId} and not exists (
  select from association_spans s where s.domain_id = ${domainId} and s.app_id = ${appId}
    and s.until is null and s.account_id = h.account_id and s.entitlement_id = h.entitlement_id)`

/** Lets spans begin of what an older host found in a run that it did not end: there is no first run, and no open span. */
async function beginUnknown(tx: Db, run: OfApp & { id: number }): Promise<void> {
  await tx.execute(sql`
    update associations h set first_run = ${run.id} where h.first_run is null and ${isUnwritten(run)}`)
}

/** Writes the spans of all that is held, as older hosts read, end and write them. */
async function writeSpans(tx: Db, run: OfApp & { id: number }): Promise<void> {
  await tx.execute(sql`
    insert into association_spans (domain_id, app_id, account_id, entitlement_id, since, first_run)
    select ${run.domainId}, h.app_id, h.account_id, h.entitlement_id,
      coalesce(found.recorded_at, ${MOMENT}), coalesce(found.recorded_by, ${run.id})
    from associations h left join sync_runs found on found.id = h.first_run
    where ${isUnwritten(run)}
    order by h.account_id, h.entitlement_id`)
  await tx.execute(sql`
    update associations set first_run = null where app_id = ${run.appId} and first_run is not null`)
}

/**
 * Leaves one open span of each pair, the older one. A pair has two where a run began to delete it and stopped, and a later
 * one found it again; and where a host of a version before, which knows only written spans, ended a run.
 */
async function keepOlder(tx: Db, open: SQL, there: SQL): Promise<void> {
  await tx.execute(sql`
    delete from association_spans s using associations h, sync_runs found
    where ${open} and ${there} and found.id = h.first_run and found.recorded_at <= s.since`)
  await tx.execute(sql`
    update associations h set first_run = null from association_spans s
    where ${open} and ${there} and h.first_run is not null`)
}

async function isAny(tx: Db, rows: SQL): Promise<boolean> {
  const { rows: found } = await tx.execute<{ found: boolean }>(
    sql`select exists (select from ${rows}) as found`,
  )
  return found[0]?.found === true
}
