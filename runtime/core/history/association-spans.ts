/**
 * Spans of associations, read and written. A span that has ended or is about to end is a row of
 * `association_spans`. A current span is the row of `associations` itself, which a sync writes, marks as seen
 * (`seen_run`) and deletes. It began when a complete run recorded the run that saw it first
 * (`sync_runs.recorded_at`). A sync therefore writes each association once.
 *
 * Associations of older versions have no first run: their open spans are in `association_spans` too. The same
 * applies to all associations while hosts of such a version may run at the same time (older-hosts.ts).
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { MOMENT, type Moment, spanHolds } from './as-of.ts'
import { olderHosts } from './older-hosts.ts'

/**
 * Selection of spans: of an app, and within it of an account or an entitlement. The values are expressions of
 * the enclosing query.
 */
type Which = {
  domainId: SQL
  appId: SQL
  accountId?: SQL
  entitlementId?: SQL
  /** Only spans that contain this moment. */
  at?: Moment
  /** Maximum number, in order of account and entitlement: an index finds them without reading the others. */
  first?: number
}

/**
 * Returns a subquery for spans of associations, in parentheses. It goes after `lateral` if it depends on
 * other rows of the query. Columns: domain_id, app_id, account_id, entitlement_id, since, until, first_run,
 * last_run, gone_run.
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

/**
 * Returns a subquery for the spans of an account `a`, which has `domain_id`, `app_id` and `account_id` like
 * rows of `account_spans`.
 */
export const heldBy = (a: SQL): SQL =>
  associationSpansOf({
    domainId: sql`${a}.domain_id`,
    appId: sql`${a}.app_id`,
    accountId: sql`${a}.account_id`,
  })

/** Returns a subquery for the spans of an entitlement `e`, a row of `entitlements`. */
export const holdersOf = (e: SQL): SQL =>
  associationSpansOf({
    domainId: sql`${e}.domain_id`,
    appId: sql`${e}.app_id`,
    entitlementId: sql`${e}.id`,
  })

/** An app whose associations are written. */
type OfApp = { appId: string; domainId: string }

/**
 * Deletes the associations `gone` of an app that meet a condition, and stores their spans, which
 * `settleAssociationSpans` ends.
 *
 * @returns the number of deleted associations
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
 * Called once, at the end of a complete run. Ends the spans of deleted associations, and begins those of
 * associations that no earlier run recorded.
 *
 * @param ended assignments for spans that end
 */
export async function settleAssociationSpans(
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
  // Last, because a host that renews its lease would wait for any later statement.
  await tx.execute(sql`
    update sync_runs set recorded_at = ${MOMENT}, recorded_by = ${run.id}
    where app_id = ${run.appId} and id <= ${run.id} and recorded_at is null`)
}

/** Returns the condition on associations `h` that they have no open span in `association_spans`. */
const isUnwritten = ({ domainId, appId }: OfApp): SQL => sql`h.app_id = ${appId} and not exists (
  select from association_spans s where s.domain_id = ${domainId} and s.app_id = ${appId}
    and s.until is null and s.account_id = h.account_id and s.entitlement_id = h.entitlement_id)`

/**
 * Begins spans of associations that an older host found in a run that it did not end: they have no first run
 * and no open span.
 */
async function beginUnknown(tx: Db, run: OfApp & { id: number }): Promise<void> {
  await tx.execute(sql`
    update associations h set first_run = ${run.id} where h.first_run is null and ${isUnwritten(run)}`)
}

/** Writes the spans of all current associations in the form that older hosts read, end and write. */
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
 * Keeps only the older of two open spans of a pair. There are two if a run stopped while deleting the pair
 * and a later one found it again, or if an older host, which knows only spans in `association_spans`, ended a
 * run.
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
