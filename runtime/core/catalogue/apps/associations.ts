/** Which account held which entitlement, now or at a moment: spans, written by complete syncs. */
import { and, asc, eq, inArray, max, sql } from 'drizzle-orm'
import type { Association } from '../../../contract/models/access.ts'
import type { Db } from '../../../database/database.ts'
import { accounts } from '../../../database/schema/apps.ts'
import { associationSpans } from '../../../database/schema/history.ts'
import { entitlements, syncRuns } from '../../../database/schema/sync.ts'
import { databaseTime } from '../../../database/transactions.ts'
import { checkMoment, holdsAt } from '../../history/as-of.ts'
import { idEquals } from '../../kernel/by-id.ts'
import { isId } from '../../kernel/id.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { type PageQuery, selectPage } from '../../kernel/list/page.ts'

type Query = PageQuery & { app_id: string | null; account_id: string | null; as_of: Date | null }

/** Associations by app, account and entitlement. @throws CoreError invalid */
export async function listAssociations(db: Db, { domainId }: Principal, query: Query) {
  const { app_id, account_id, as_of } = query
  if (as_of !== null) await checkMoment(db, as_of)
  const { appId, accountId, entitlementId, since, id } = associationSpans
  const where = and(
    eq(associationSpans.domainId, domainId),
    idEquals(appId, app_id),
    account_id === null ? undefined : isId(account_id) ? ofAccount(account_id) : sql`false`,
    holdsAt(associationSpans, as_of ?? (await databaseTime(db))),
  )
  const order = [asc(appId), asc(accountId), asc(entitlementId), asc(since), asc(id)]
  const page = await selectPage(db, associationSpans, { where, order }, query, (row) => row)
  return { ...page, items: await toAssociations(db, page.items) }
}

/** Spans of an account lie below its app. */
const ofAccount = (id: string) =>
  sql`${eq(associationSpans.accountId, id)}
    and ${associationSpans.appId} = (select app_id from accounts where id = ${id})`

async function toAssociations(
  db: Db,
  spans: (typeof associationSpans.$inferSelect)[],
): Promise<Association[]> {
  if (spans.length === 0) return []
  const of = <K extends 'accountId' | 'entitlementId' | 'appId'>(key: K) => [
    ...new Set(spans.map((span) => span[key])),
  ]
  const heldBy = await db
    .select({ id: accounts.id, name: accounts.uniqueIdentifier })
    .from(accounts)
    .where(inArray(accounts.id, of('accountId')))
  const held = await db
    .select()
    .from(entitlements)
    .where(inArray(entitlements.id, of('entitlementId')))
  const confirmed = await lastRuns(db, of('appId'))
  const names = new Map(heldBy.map(({ id, name }) => [id, name]))
  const byId = new Map(held.map((row) => [row.id, row]))
  return spans.map((span) => {
    const entitlement = byId.get(span.entitlementId)
    return {
      app_id: span.appId,
      account_id: span.accountId,
      unique_identifier: names.get(span.accountId) ?? '',
      entitlement_type: entitlement?.entitlementType ?? '',
      entitlement_id: entitlement?.externalId ?? '',
      resource_id: entitlement?.resourceId ?? '',
      label: entitlement?.label ?? '',
      since: span.since.toISOString(),
      until: span.until?.toISOString() ?? null,
      first_run: span.firstRun,
      last_run: span.until === null ? (confirmed.get(span.appId) ?? null) : span.lastRun,
      gone_run: span.goneRun,
    }
  })
}

/** The latest complete sync of apps: up to there their open spans are confirmed. */
async function lastRuns(db: Db, apps: string[]): Promise<Map<string, number | null>> {
  const rows = await db
    .select({ appId: syncRuns.appId, last: max(syncRuns.id) })
    .from(syncRuns)
    .where(and(inArray(syncRuns.appId, apps), eq(syncRuns.state, 'SUCCEEDED')))
    .groupBy(syncRuns.appId)
  return new Map(rows.map(({ appId, last }) => [appId, last]))
}
