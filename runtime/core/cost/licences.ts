/** Paid entitlements: their seats, how many of them are used, and the price of a seat. */
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { notFound } from '../../contract/errors/problem.ts'
import type { Licence, LicencePriceInput } from '../../contract/models/cost.ts'
import { LICENCE_TYPES } from '../../contract/models/entitlement-tag.ts'
import { UNUSED_DAYS } from '../../contract/models/finding.ts'
import type { Db } from '../../database/database.ts'
import { licencePrices } from '../../database/schema/expenses.ts'
import { entitlements } from '../../database/schema/sync.ts'
import { holdersOf } from '../history/association-spans.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { idEquals } from '../kernel/by-id.ts'
import { shortened } from '../kernel/decimal.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { selectPage } from '../kernel/list/page.ts'
import { INACTIVE_ACCOUNTS } from '../separation/holdings.ts'

type Row = typeof entitlements.$inferSelect

/**
 * Lists entitlements whose type indicates that they are paid for, or that have a price. Sorted by app and id.
 */
export async function listLicences(
  db: Db,
  { domainId }: Principal,
  query: QueryOf<'list_licences'>,
) {
  const { app_id } = query
  const priced = db.select({ id: licencePrices.entitlementId }).from(licencePrices)
  const where = and(
    eq(entitlements.domainId, domainId),
    isNull(entitlements.goneAt),
    idEquals(entitlements.appId, app_id),
    sql`(${entitlements.entitlementType} ~* ${LICENCE_TYPES} or ${inArray(entitlements.id, priced)})`,
  )
  const order = [asc(entitlements.appId), asc(entitlements.id)]
  return selectPage(db, entitlements, { where, order }, query, (rows) => toLicences(db, rows))
}

/**
 * Returns a licence.
 *
 * @throws CoreError `not_found`
 */
export async function getLicence(db: Db, principal: Principal, id: string): Promise<Licence> {
  return only(await toLicences(db, [await findLicence(db, principal, id)]))
}

function only([licence]: readonly Licence[]): Licence {
  if (!licence) throw notFound('Licence')
  return licence
}

/**
 * Sets the price of a seat.
 *
 * @throws CoreError `not_found`
 */
export async function putPrice(
  db: Db,
  principal: Principal,
  id: string,
  { amount, currency, period }: LicencePriceInput,
): Promise<Licence> {
  const row = await db.transaction(async (tx) => {
    const found = await findLicence(tx, principal, id)
    const values = { amount, currency, period }
    const { domainId, appId } = found
    await tx
      .insert(licencePrices)
      .values({ entitlementId: found.id, domainId, appId, ...values })
      .onConflictDoUpdate({ target: licencePrices.entitlementId, set: values })
    await record(tx, principal, 'SET', found, values)
    return found
  })
  return only(await toLicences(db, [row]))
}

/**
 * Deletes the price of a seat.
 *
 * @throws CoreError `not_found`, also if there is no price
 */
export async function deletePrice(db: Db, principal: Principal, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await findLicence(tx, principal, id)
    const gone = await tx
      .delete(licencePrices)
      .where(eq(licencePrices.entitlementId, found.id))
      .returning()
    if (gone.length === 0) throw notFound('Price')
    await record(tx, principal, 'REMOVED', found, {})
  })
}

async function findLicence(db: Db, { domainId }: Principal, id: string): Promise<Row> {
  const [row] = /^\d{1,15}$/.test(id)
    ? await db
        .select()
        .from(entitlements)
        .where(and(eq(entitlements.id, Number(id)), eq(entitlements.domainId, domainId)))
    : []
  if (!row) throw notFound('Licence')
  return row
}

const record = (
  tx: Db,
  principal: Principal,
  what: 'SET' | 'REMOVED',
  { id, label, appId }: Row,
  metadata: Record<string, unknown>,
) => {
  const target = { target_type: 'Entitlement', name: keptText(label, 200), id: String(id) }
  return recordActivity(tx, principal, `LICENCE_PRICE_${what}`, [target], {
    app_id: appId,
    ...metadata,
  })
}

type Counted = {
  id: string
  app_name: string
  held: string
  used: string
  tells: boolean
  amount: string | null
  currency: string | null
  period: 'MONTH' | 'YEAR' | null
  idle: string | null
}

async function toLicences(db: Db, rows: readonly Row[]): Promise<Licence[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const { rows: counted } = await db.execute<Counted>(sql`
    select e.id, apps.name as app_name, seats.held, seats.used, told.tells, p.amount::text as amount,
      p.currency, p.period, case when told.tells then ((seats.held - seats.used) * p.amount)::text end as idle
    from entitlements e join apps on apps.id = e.app_id
    left join licence_prices p on p.entitlement_id = e.id
    cross join lateral (select exists (select from accounts o where o.app_id = e.app_id
      and (o.last_login is not null or o.last_activity is not null)) as tells) told
    cross join lateral (
      select count(*) as held, count(*) filter (where coalesce(greatest(a.last_login, a.last_activity), s.since)
        >= now() - make_interval(days => ${UNUSED_DAYS})) as used
      from ${holdersOf(sql`e`)} h
      join account_spans s on s.account_id = h.account_id and s.until is null
        and coalesce(s.status, 'ACTIVE') <> all(${sql.param([...INACTIVE_ACCOUNTS])}::text[])
      join accounts a on a.id = s.account_id
      where h.until is null) seats
    where e.id = any(${sql.param(ids)}::bigint[])`)
  const byId = new Map(counted.map((one) => [Number(one.id), one]))
  return rows.map((row) => {
    const one = byId.get(row.id)
    const { amount, currency, period } = one ?? {}
    return {
      id: String(row.id),
      app_id: row.appId,
      app_name: one?.app_name ?? '',
      entitlement_type: row.entitlementType,
      entitlement_id: row.externalId,
      label: row.label,
      seats_held: Number(one?.held ?? 0),
      seats_used: one?.tells ? Number(one.used) : null,
      price: amount && currency && period ? { amount: shortened(amount), currency, period } : null,
      idle_amount: one?.idle ? shortened(one.idle) : null,
    }
  })
}
