/** Accounts of people in apps. */
import { and, arrayOverlaps, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import type { Account, App } from '../../../contract/models/app.ts'
import type { Db } from '../../../database/database.ts'
import { accounts, apps } from '../../../database/schema/apps.ts'
import { accountSpans } from '../../../database/schema/history.ts'
import { findUser } from '../../directory/users.ts'
import { checkMoment, holdsAt } from '../../history/as-of.ts'
import { idEquals } from '../../kernel/by-id.ts'
import { type Principal, requirePermission } from '../../kernel/identity/principal.ts'
import { type List, selectPage } from '../../kernel/list/page.ts'
import { toApp } from './apps.ts'

type AccountRow = typeof accounts.$inferSelect

/** Converts an account to its wire form, with its `app` if requested. */
const toAccount = (row: AccountRow, app: App | null): Account => ({
  id: row.id,
  app_id: row.appId,
  account_type: row.accountType,
  status: row.status,
  app,
  unique_identifier: row.uniqueIdentifier,
  email: row.email,
  user_id: row.userId,
  discovered_at: row.discoveredAt?.toISOString() ?? null,
  last_login: row.lastLogin?.toISOString() ?? null,
  last_activity: row.lastActivity?.toISOString() ?? null,
  sources: row.sources,
})

/** Converts rows to their wire form, and reads `expand`ed apps in one query. */
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

/** The user name, otherwise the e-mail address, otherwise the name of the person in the app, or null. */
const DISPLAY_NAME = sql<
  string | null
>`coalesce(nullif(${accounts.attributes} ->> 'username', ''), nullif(${accounts.email}, ''),
    nullif(concat_ws(' ', nullif(${accounts.givenName}, ''), nullif(${accounts.familyName}, '')), ''))`

/** Returns display names of accounts of one app by their ids in it, like `accountNames`. */
export async function accountNamesIn(
  db: Db,
  appId: string,
  idsInApp: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (idsInApp.length === 0) return new Map()
  const rows = await db
    .select({ id: accounts.uniqueIdentifier, name: DISPLAY_NAME })
    .from(accounts)
    .where(and(eq(accounts.appId, appId), inArray(accounts.uniqueIdentifier, [...idsInApp])))
  return new Map(rows.flatMap((row) => (row.name ? [[row.id, row.name] as const] : [])))
}

/**
 * Returns display names of the accounts that rows refer to, by id: the user name, otherwise the e-mail address, otherwise the
 * name of the person in the app. Accounts without any of them are left out. It does not check permissions:
 * callers must.
 */
export async function accountNames(
  db: Db,
  referring: readonly { account_id?: string | null | undefined }[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(referring.map((one) => one.account_id))].filter(
    (one) => typeof one === 'string',
  )
  if (wanted.length === 0) return new Map()
  const rows = await db
    .select({ id: accounts.id, name: DISPLAY_NAME })
    .from(accounts)
    .where(inArray(accounts.id, wanted))
  return new Map(rows.flatMap((row) => (row.name ? [[row.id, row.name] as const] : [])))
}

type AccountQuery = QueryOf<'list_user_accounts'>

/**
 * Lists the accounts of a user. Those of another user require accounts.read.
 *
 * @throws CoreError `forbidden`, `not_found`, `invalid` for a moment outside the history
 */
export async function listUserAccounts(
  db: Db,
  principal: Principal,
  userId: string,
  query: AccountQuery,
) {
  if (userId !== principal.userId) requirePermission(principal, 'accounts.read')
  const user = await findUser(db, principal, userId)
  if (query.as_of !== null) {
    const where = eq(accountSpans.userId, user.id)
    const order = [asc(accountSpans.uniqueIdentifier), asc(accountSpans.id)]
    return listThen(db, principal, { where, order }, query, query.as_of)
  }
  const where = and(eq(accounts.domainId, principal.domainId), eq(accounts.userId, user.id))
  const order = [asc(accounts.uniqueIdentifier), asc(accounts.id)]
  return selectPage(db, accounts, { where, order }, query, (rows) =>
    toAccounts(db, rows, query.expand),
  )
}

type AllAccountsQuery = QueryOf<'list_app_accounts'>

/** Lists the accounts in apps, by app and by their id in it. An app outside the caller's domain has none. */
export async function listAccounts(db: Db, principal: Principal, query: AllAccountsQuery) {
  const { domainId } = principal
  const { app_id, discovered_before, discovered_after, sources, status, as_of } = query
  if (as_of !== null) return listAllThen(db, principal, query, as_of)
  const where = and(
    eq(accounts.domainId, domainId),
    idEquals(accounts.appId, app_id),
    discovered_before === null ? undefined : lt(accounts.discoveredAt, discovered_before),
    discovered_after === null ? undefined : gt(accounts.discoveredAt, discovered_after),
    sources.length === 0 ? undefined : arrayOverlaps(accounts.sources, sources),
    status.length === 0 ? undefined : inArray(accounts.status, status),
  )
  const by = query.sort === '-account' ? desc : asc
  const order = [by(accounts.appId), by(accounts.uniqueIdentifier)]
  return selectPage(db, accounts, { where, order }, query, (rows) =>
    toAccounts(db, rows, query.expand),
  )
}

async function listAllThen(db: Db, principal: Principal, query: AllAccountsQuery, asOf: Date) {
  const { app_id, discovered_before, discovered_after, sources, status } = query
  const found = and(
    discovered_before === null ? undefined : lt(accounts.discoveredAt, discovered_before),
    discovered_after === null ? undefined : gt(accounts.discoveredAt, discovered_after),
    sources.length === 0 ? undefined : arrayOverlaps(accounts.sources, sources),
  )
  const where = and(
    idEquals(accountSpans.appId, app_id),
    status.length === 0 ? undefined : inArray(accountSpans.status, status),
    found &&
      inArray(accountSpans.accountId, db.select({ id: accounts.id }).from(accounts).where(found)),
  )
  const { appId, uniqueIdentifier, since, id } = accountSpans
  const by = query.sort === '-account' ? desc : asc
  const order = [by(appId), by(uniqueIdentifier), by(since), by(id)]
  return listThen(db, principal, { where, order }, query, asOf)
}

/**
 * Lists accounts as of a past moment. The history does not include their last use, so it is null.
 *
 * @throws CoreError `invalid`
 */
async function listThen(
  db: Db,
  { domainId }: Principal,
  { where, order }: List,
  query: AccountQuery,
  asOf: Date,
) {
  await checkMoment(db, asOf)
  const all = and(eq(accountSpans.domainId, domainId), where, holdsAt(accountSpans, asOf))
  return selectPage(db, accountSpans, { where: all, order }, query, async (spans) => {
    const ids = spans.map((span) => span.accountId)
    const now =
      ids.length > 0 ? await db.select().from(accounts).where(inArray(accounts.id, ids)) : []
    const byId = new Map(now.map((row) => [row.id, row]))
    const rows = spans.flatMap((span) => {
      const row = byId.get(span.accountId)
      const { userId, uniqueIdentifier, accountType, status, email } = span
      const then = { userId, uniqueIdentifier, accountType, status, email }
      return row ? [{ ...row, ...then, lastLogin: null, lastActivity: null }] : []
    })
    return toAccounts(db, rows, query.expand)
  })
}
