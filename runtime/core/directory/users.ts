/** Users, their roles, and groups. */
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { badRequest, CoreError } from '../../contract/errors/problem.ts'
import type { User } from '../../contract/models/person.ts'
import { ROLES, type RoleName, roleOf } from '../../contract/models/roles.ts'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import {
  groupMembers,
  groups,
  type UserRow,
  userRoles,
  users,
} from '../../database/schema/people.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { idEquals, rowOfId } from '../kernel/by-id.ts'
import { type Principal, requirePermission } from '../kernel/identity/principal.ts'
import { orderOf } from '../kernel/list/order.ts'
import { type PageQuery, selectPage } from '../kernel/list/page.ts'
import { containing, hasPart, hasPartLowered } from '../kernel/list/search.ts'
import { requireRemainingAdmin } from './admins.ts'

/** Separator between address and name in `search_text`. */
const BETWEEN = '\u0001'

const byIds = prepared('users by ids', (db) =>
  db
    .select()
    .from(users)
    .where(sql`${users.id} = any(${sql.placeholder('ids')}::uuid[])`),
)

/** Returns the users with the given ids, in any order. */
export const usersOf = (db: Db, ids: readonly string[]): Promise<UserRow[]> => byIds(db, { ids })

/**
 * Returns the fields of a user that the interface shows. Given a row, they are values; given a table, they are
 * the columns to select.
 */
export const shownOf = <I, E, G, F, S>(
  of: Record<'id', I> &
    Record<'email', E> &
    Record<'givenName', G> &
    Record<'familyName', F> &
    Record<'status', S>,
) => ({
  ...{ id: of.id, email: of.email, status: of.status },
  ...{ givenName: of.givenName, familyName: of.familyName },
})
export type ShownUser = Pick<UserRow, 'id' | 'email' | 'givenName' | 'familyName' | 'status'>

/** Returns a user as the interface shows it. */
export const toUser = ({ id, email, givenName, familyName, status }: ShownUser): User => ({
  id,
  email,
  given_name: givenName,
  family_name: familyName,
  status,
})

const withAttributes = (row: UserRow, expand: readonly string[]) => ({
  ...toUser(row),
  custom_attributes: expand.includes('custom_attributes') ? row.customAttributes : null,
})

/** Returns a user of the caller's domain. */
export const findUser = (db: Db, principal: Principal, id: string): Promise<UserRow> =>
  rowOfId(db, users, 'User', principal, id)

export async function getCurrentUser(db: Db, principal: Principal) {
  return toUser(await findUser(db, principal, principal.userId))
}

type UserQuery = QueryOf<'list_users'>

export async function listUsers(db: Db, { domainId }: Principal, query: UserQuery) {
  const where = and(eq(users.domainId, domainId), searchCondition(query))
  const order = orderOf({ email: users.email }, query.sort ?? 'email', users.id)
  return selectPage(db, users, { where, order }, query, (rows) =>
    rows.map((row) => withAttributes(row, query.expand)),
  )
}

function searchCondition({ search_term: term, exact_match: exact }: UserQuery): SQL | undefined {
  if (term === null || term === '') return undefined
  // The same expression as in the index users_name. The database also lowers the term, by its own rules.
  const name = sql`lower(${users.givenName} || ' ' || ${users.familyName})`
  if (exact) return sql`(lower(${users.email}) = lower(${term}) or ${name} = lower(${term}))`
  // A term with the separator would match across address and name in `search_text`.
  if (term.includes(BETWEEN))
    return sql`(lower(${users.email}) like lower(${containing(term)}) or ${name} like lower(${containing(term)}))`
  return hasPartLowered(users.searchText, term)
}

export async function getUser(db: Db, principal: Principal, id: string, expand: string[]) {
  if (id !== principal.userId) requirePermission(principal, 'users.read')
  return withAttributes(await findUser(db, principal, id), expand)
}

export async function listRoles(db: Db, principal: Principal, id: string) {
  if (id !== principal.userId) requirePermission(principal, 'users.read')
  const user = await findUser(db, principal, id)
  const rows = await db
    .select()
    .from(userRoles)
    .where(eq(userRoles.userId, user.id))
    .orderBy(asc(userRoles.role))
  return [...new Set([...rows.map(({ role }) => role), 'User'])].map((name) => ({ name }))
}

/** @throws CoreError `not_found` for an unknown role */
function knownRole(name: string): RoleName {
  const role = roleOf(name)
  if (!role)
    throw new CoreError(
      'not_found',
      `Role not found; the roles are ${Object.keys(ROLES).join(', ')}`,
    )
  return role
}

export async function addRole(db: Db, principal: Principal, id: string, name: string) {
  const user = await findUser(db, principal, id)
  const role = knownRole(name)
  await db.transaction(async (tx) => {
    const added = await tx
      .insert(userRoles)
      .values({ domainId: principal.domainId, userId: user.id, role })
      .onConflictDoNothing()
      .returning()
    if (added.length > 0)
      await recordActivity(tx, principal, 'USER_ROLE_ADDED', [userTarget(user)], { role })
  })
  return { name: role }
}

export async function removeRole(
  db: Db,
  principal: Principal,
  id: string,
  name: string,
): Promise<void> {
  const user = await findUser(db, principal, id)
  const role = knownRole(name)
  if (role === 'User') throw badRequest('Every user has the role User; it cannot be removed')
  await db.transaction(async (tx) => {
    if (role === 'Admin') await requireRemainingAdmin(tx, principal.domainId, new Set([user.id]))
    const removed = await tx
      .delete(userRoles)
      .where(and(eq(userRoles.userId, user.id), eq(userRoles.role, role)))
      .returning()
    if (removed.length === 0)
      throw new CoreError('not_found', `The user does not have the role ${role}`)
    await recordActivity(tx, principal, 'USER_ROLE_REMOVED', [userTarget(user)], { role })
  })
}

/** Returns a user as a target in the activity log. */
export const userTarget = ({ id, email }: Pick<UserRow, 'id' | 'email'>) => ({
  target_type: 'User',
  name: email,
  id,
})

type GroupRow = typeof groups.$inferSelect

/** Returns a group as the interface shows it. */
export const toGroup = (row: GroupRow) => ({
  id: row.id,
  app_id: row.appId ?? '',
  integration_specific_id: row.integrationSpecificId,
  name: row.name,
  description: row.description,
  group_lifecycle: row.appId ? ('SYNCED' as const) : ('NATIVE' as const),
  source_app_id: row.appId ?? '',
})

type GroupQuery = QueryOf<'list_groups'>

export async function listGroups(db: Db, { domainId }: Principal, query: GroupQuery) {
  const { integration_specific_id: specific, name, exact_match: exact, app_id: appId } = query
  const where = and(
    eq(groups.domainId, domainId),
    specific === null ? undefined : eq(groups.integrationSpecificId, specific),
    name === null ? undefined : exact ? eq(groups.name, name) : hasPart(groups.name, name),
    idEquals(groups.appId, appId),
  )
  const order = [asc(groups.name), asc(groups.id)]
  return selectPage(db, groups, { where, order }, query, (rows) => rows.map(toGroup))
}

/** Returns groups by id, sorted by name. Sends no query if there are no ids. */
export async function groupsByName(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return []
  return db
    .select({ id: groups.id, name: groups.name })
    .from(groups)
    .where(inArray(groups.id, [...new Set(ids)]))
    .orderBy(asc(groups.name))
}

const findGroup = (db: Db, principal: Principal, id: string): Promise<GroupRow> =>
  rowOfId(db, groups, 'Group', principal, id)

export async function getGroup(db: Db, principal: Principal, id: string) {
  return toGroup(await findGroup(db, principal, id))
}

export async function listGroupUsers(db: Db, principal: Principal, id: string, query: PageQuery) {
  const group = await findGroup(db, principal, id)
  const members = db
    .select({ id: groupMembers.userId })
    .from(groupMembers)
    .where(eq(groupMembers.groupId, group.id))
  const where = and(eq(users.domainId, principal.domainId), inArray(users.id, members))
  const order = [asc(users.email), asc(users.id)]
  return selectPage(db, users, { where, order }, query, (rows) => rows.map(toUser))
}
