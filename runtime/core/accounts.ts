/** Accounts of people in apps. */
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Account, App, DiscoverySource } from '../contract/models/app.ts'
import type { Db } from '../database/database.ts'
import { accounts, apps } from '../database/schema/apps.ts'
import { toApp } from './apps.ts'
import { type PageQuery, selectPage } from './page.ts'
import { demand, type Principal } from './principal.ts'
import { findUser } from './users.ts'

type AccountRow = typeof accounts.$inferSelect

/** An account as on the wire; `app` where it was asked for. */
export const toAccount = (row: AccountRow, app: App | null): Account => ({
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
export async function toAccounts(
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
