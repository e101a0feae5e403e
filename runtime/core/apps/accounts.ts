/** Accounts of people in apps. */
import { and, arrayOverlaps, asc, eq, gt, inArray, lt, sql } from 'drizzle-orm'
import { isId } from '../../contract/id.ts'
import type { Account, App, DiscoverySource } from '../../contract/models/app.ts'
import type { Db } from '../../database/database.ts'
import { accounts, apps } from '../../database/schema/apps.ts'
import { demand, type Principal } from '../callers/principal.ts'
import { type PageQuery, selectPage } from '../list/page.ts'
import { findUser } from '../people/users.ts'
import { toApp } from './apps.ts'

type AccountRow = typeof accounts.$inferSelect

/** An account as on the wire; `app` where it was asked for. */
const toAccount = (row: AccountRow, app: App | null): Account => ({
  id: row.id,
  app_id: row.appId,
  account_type: row.accountType,
  status: row.status as Account['status'],
  app,
  unique_identifier: row.uniqueIdentifier,
  email: row.email,
  user_id: row.userId,
  discovered_at: row.discoveredAt?.toISOString() ?? null,
  last_login: row.lastLogin?.toISOString() ?? null,
  last_activity: row.lastActivity?.toISOString() ?? null,
  sources: row.sources as DiscoverySource[],
})

/** Rows as on the wire, with `expand`ed apps in one question. */
async function toAccounts(
  db: Db,
  rows: AccountRow[],
  expand: readonly string[],
): Promise<Account[]> {
  const ids = expand.includes('app') ? [...new Set(rows.map(({ appId }) => appId))] : []
  const found = ids.length > 0 ? await db.select().from(apps).where(inArray(apps.id, ids)) : []
  const byId = new Map(found.map((app) => [app.id, toApp(app)]))
  return rows.map((row) => toAccount(row, byId.get(row.appId) ?? null))
}

type AccountQuery = PageQuery & { expand: string[] }

/** The accounts of a user: one's own, or with accounts.read anybody's. */
export async function listUserAccounts(
  db: Db,
  principal: Principal,
  userId: string,
  query: AccountQuery,
) {
  if (userId !== principal.userId) demand(principal, 'accounts.read')
  const user = await findUser(db, principal, userId)
  const where = and(eq(accounts.domainId, principal.domainId), eq(accounts.userId, user.id))
  const order = [asc(accounts.uniqueIdentifier), asc(accounts.id)]
  const page = await selectPage(db, accounts, { where, order }, query, (row) => row)
  return { ...page, items: await toAccounts(db, page.items, query.expand) }
}

type AllAccountsQuery = AccountQuery & {
  app_id: string | null
  discovered_before: Date | null
  discovered_after: Date | null
  sources: string[]
  status: string[]
}

/** The accounts in apps, by app and their id in it. An app that is none of the caller's has none. */
export async function listAccounts(db: Db, { domainId }: Principal, query: AllAccountsQuery) {
  const { app_id, discovered_before, discovered_after, sources, status } = query
  const where = and(
    eq(accounts.domainId, domainId),
    app_id === null ? undefined : isId(app_id) ? eq(accounts.appId, app_id) : sql`false`,
    discovered_before === null ? undefined : lt(accounts.discoveredAt, discovered_before),
    discovered_after === null ? undefined : gt(accounts.discoveredAt, discovered_after),
    sources.length === 0 ? undefined : arrayOverlaps(accounts.sources, sources),
    status.length === 0 ? undefined : inArray(accounts.status, status),
  )
  const order = [asc(accounts.appId), asc(accounts.uniqueIdentifier), asc(accounts.id)]
  const page = await selectPage(db, accounts, { where, order }, query, (row) => row)
  return { ...page, items: await toAccounts(db, page.items, query.expand) }
}
