/** Break-glass permissions: marking them, and who may read them. */
import { and, asc, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import { invalidAt, notFound } from '../../../contract/errors/problem.ts'
import type { BreakGlass, BreakGlassInput } from '../../../contract/models/break-glass.ts'
import { type Db, one } from '../../../database/database.ts'
import { breakGlass, requestablePermissions } from '../../../database/schema/app_store.ts'
import { apps } from '../../../database/schema/apps.ts'
import { groups } from '../../../database/schema/people.ts'
import { distinctIds, idEquals, idsOf, isId } from '../../kernel/by-id.ts'
import { groupArrayOf, idsOfApps, isReachRefused, reach } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { selectPage } from '../../kernel/list/page.ts'
import { findPermission, permissionTarget } from './permission-edits.ts'
import { recordInStore } from './record.ts'

type GlassRow = typeof breakGlass.$inferSelect

type Query = QueryOf<'list_break_glass'>

/** Returns the condition that the caller is in one of its groups and can use it now. */
const takenBy = ({
  userId,
}: Principal): SQL => sql`(${breakGlass.groupIds} && ${groupArrayOf(userId)}
  and exists (select from ${requestablePermissions} join ${apps} on ${apps.id} = ${requestablePermissions.appId}
    where ${requestablePermissions.id} = ${breakGlass.id} and ${requestablePermissions.goneAt} is null
      and ${apps.disconnectedAt} is null))`

function readBy(principal: Principal): SQL | undefined {
  if (isReachRefused(principal, 'appstore.read')) return takenBy(principal)
  const reached = reach(principal, 'appstore.read')
  if (reached === undefined) return undefined
  return or(takenBy(principal), sql`${breakGlass.appId} = any(${idsOfApps(reached)})`)
}

/** Lists break-glass permissions in the order in which they were marked. */
export async function listBreakGlass(db: Db, principal: Principal, query: Query) {
  const { mine, app_id } = query
  const where = and(
    eq(breakGlass.domainId, principal.domainId),
    mine ? takenBy(principal) : readBy(principal),
    idEquals(breakGlass.appId, app_id),
  )
  const order = [asc(breakGlass.createdAt), asc(breakGlass.id)]
  return selectPage(db, breakGlass, { where, order }, query, (rows) => toBreakGlass(db, rows))
}

async function toBreakGlass(db: Db, rows: readonly GlassRow[]): Promise<BreakGlass[]> {
  if (rows.length === 0) return []
  const names = await db
    .select({ id: requestablePermissions.id, label: requestablePermissions.label, app: apps.name })
    .from(requestablePermissions)
    .innerJoin(apps, eq(apps.id, requestablePermissions.appId))
    .where(inArray(requestablePermissions.id, idsOf(rows)))
  const byId = new Map(names.map((row) => [row.id, row]))
  return rows.map(({ id, appId, groupIds, maxMinutes }) => ({
    ...{ id, label: byId.get(id)?.label ?? '', app_id: appId, app_name: byId.get(id)?.app ?? '' },
    ...{ group_ids: groupIds, max_minutes: maxMinutes },
  }))
}

/**
 * Marks a permission as break-glass, or changes how.
 *
 * @throws CoreError `forbidden`, `not_found`, `invalid` for a group that does not exist
 */
export async function putBreakGlass(
  db: Db,
  principal: Principal,
  id: string,
  body: BreakGlassInput,
): Promise<BreakGlass> {
  const row = await db.transaction(async (tx) => {
    const { permission, app } = await findPermission(tx, principal, id, 'no key update')
    const groupIds = await groupsIn(tx, principal, body.group_ids)
    const set = { groupIds, maxMinutes: body.max_minutes }
    const made = one(
      await tx
        .insert(breakGlass)
        .values({ id: permission.id, domainId: app.domainId, appId: app.id, ...set })
        .onConflictDoUpdate({ target: breakGlass.id, set })
        .returning(),
    )
    const said = { group_ids: groupIds, max_minutes: body.max_minutes }
    await recordInStore(tx, principal, 'BREAK_GLASS_SET', permissionTarget(permission), app, said)
    return made
  })
  return one(await toBreakGlass(db, [row]))
}

/**
 * Unmarks a break-glass permission.
 *
 * @throws CoreError `forbidden`, `not_found` also for a permission that is not break-glass
 */
export async function deleteBreakGlass(db: Db, principal: Principal, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { permission, app } = await findPermission(tx, principal, id, 'no key update')
    const gone = await tx.delete(breakGlass).where(eq(breakGlass.id, permission.id)).returning()
    if (gone.length === 0) throw notFound('Break-glass permission')
    await recordInStore(tx, principal, 'BREAK_GLASS_REMOVED', permissionTarget(permission), app)
  })
}

async function groupsIn(
  tx: Db,
  { domainId }: Principal,
  ids: readonly string[],
): Promise<string[]> {
  const wanted = distinctIds(ids)
  const known = await tx
    .select({ id: groups.id })
    .from(groups)
    .where(and(eq(groups.domainId, domainId), inArray(groups.id, wanted.filter(isId))))
  const there = new Set(known.map((group) => group.id))
  const unknown = wanted.findIndex((id) => !there.has(id))
  if (unknown === -1) return wanted
  const loc = ['body', 'group_ids', unknown]
  const msg = 'Value error, there is no such group'
  throw invalidAt(loc, msg)
}
