/** Requestable permissions of an app, and their visibility. */
import { and, asc, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import { notFound, nullIfNotFound } from '../../../contract/errors/problem.ts'
import type { Access } from '../../../contract/models/access.ts'
import type { Db } from '../../../database/database.ts'
import { type PermissionRow, requestablePermissions } from '../../../database/schema/app_store.ts'
import { isId } from '../../kernel/by-id.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { selectPage } from '../../kernel/list/page.ts'
import { hasText } from '../../kernel/list/search.ts'
import { PERMISSION_PLACES, permissionView } from './permission-view.ts'
import { redactReferences, toObjects } from './references.ts'
import { settingsView } from './settings-view.ts'
import { findAllFound, findFound, permissionsFoundBy, type VisibleApp } from './visibility.ts'

type PermissionQuery = QueryOf<'list_app_permissions'>

/** Lists the permissions of an app that the caller sees. @throws CoreError `not_found` */
export async function listPermissions(
  db: Db,
  principal: Principal,
  appId: string,
  query: PermissionQuery,
) {
  const found = await findFound(db, principal, appId)
  const view = settingsView(found.app, found.settings)
  const { search_term: term, exact_match: exact, in_app_store: visible } = query
  const { label, visibility, goneAt } = requestablePermissions
  const where = and(
    eq(requestablePermissions.appId, found.app.id),
    permissionsFoundBy(principal, found, view),
    visible === null ? undefined : eq(visibility, visible ? 'VISIBLE' : 'HIDDEN'),
    // A permission that was removed from the app may have a current twin, and a response could not tell them
    // apart. It can still be read, changed and deleted by its id.
    isNull(goneAt),
    hasText(label, term, exact),
  )
  const order = [asc(label), asc(requestablePermissions.id)]
  const inherited = query.include_inherited_configs
  return selectPage(db, requestablePermissions, { where, order }, query, (rows) =>
    permissionsAnswer(db, principal, found, rows, inherited),
  )
}

/** Members of held access that identify its permission. */
type HeldOfApp = Pick<
  Access,
  'app_id' | 'entitlement_type' | 'entitlement_id' | 'resource_id' | 'label'
>

/**
 * Counts the permissions that the caller may request in each of some apps of the store, and how many of them
 * are among `held`. An app without any, or that the caller does not see, has no entry.
 */
export async function countPermissions(
  db: Db,
  principal: Principal,
  appIds: readonly string[],
  held: readonly HeldOfApp[],
): Promise<ReadonlyMap<string, { all: number; mine: number }>> {
  const { appId, visibility, goneAt } = requestablePermissions
  const found = [...(await findAllFound(db, principal, appIds)).values()]
  if (found.length === 0) return new Map()
  const rows = await db
    .select({
      appId,
      all: sql<number>`count(*)::int`,
      mine: sql<number>`(count(*) filter (where ${isAmong(held)}))::int`,
    })
    .from(requestablePermissions)
    .where(and(foundIn(principal, found), eq(visibility, 'VISIBLE'), isNull(goneAt)))
    .groupBy(appId)
  return new Map(rows.map(({ appId: id, ...counts }) => [id, counts]))
}

/** Returns the ids of the permissions of an app that are among `held`. */
export async function permissionsHeld(
  db: Db,
  appId: string,
  held: readonly HeldOfApp[],
): Promise<ReadonlySet<string>> {
  const of = requestablePermissions
  const rows = await db
    .select({ id: of.id })
    .from(of)
    .where(and(eq(of.appId, appId), isAmong(held)))
  return new Set(rows.map(({ id }) => id))
}

/** Returns the condition on `requestable_permissions` that they are among the access that a person holds. */
function isAmong(held: readonly HeldOfApp[]): SQL {
  const of = requestablePermissions
  return sql`exists (
    select from jsonb_to_recordset(${JSON.stringify(held)}::jsonb) as h(app_id uuid, entitlement_type text,
      entitlement_id text, resource_id text, label text)
    where h.app_id = ${whole(of.appId)} and case when h.entitlement_id is null
      then h.label = ${whole(of.label)}
      else h.entitlement_type = ${whole(of.entitlementType)} and h.entitlement_id = ${whole(of.entitlementId)}
        and coalesce(h.resource_id, '') = coalesce(${whole(of.resourceId)}, '') end)`
}

/** Returns the condition on `requestable_permissions` that the caller sees them in one of the apps. */
export const foundIn = (principal: Principal, apps: readonly VisibleApp[]): SQL | undefined =>
  or(
    ...apps.map((one) =>
      and(
        eq(requestablePermissions.appId, one.app.id),
        permissionsFoundBy(principal, one, settingsView(one.app, one.settings)),
      ),
    ),
  )

/**
 * Reads those of the given permissions that the caller sees in one of the apps, in the order of their ids.
 */
export async function permissionsIn(
  db: Db,
  principal: Principal,
  apps: readonly VisibleApp[],
  ids: readonly string[],
): Promise<PermissionRow[]> {
  const known = ids.filter(isId)
  if (known.length === 0 || apps.length === 0) return []
  const of = requestablePermissions
  return db
    .select()
    .from(of)
    .where(and(inArray(of.id, known), foundIn(principal, apps)))
    .orderBy(asc(of.id))
}

/** Returns the ids of the apps of some permissions. */
export async function appsOfPermissions(
  db: Db,
  { domainId }: Principal,
  ids: readonly string[],
): Promise<string[]> {
  const known = ids.filter(isId)
  if (known.length === 0) return []
  const of = requestablePermissions
  const rows = await db
    .selectDistinct({ appId: of.appId })
    .from(of)
    .where(and(inArray(of.id, known), eq(of.domainId, domainId)))
  return rows.map(({ appId }) => appId)
}

/**
 * Returns a column qualified with its table: in a query of one table, names are unqualified, and a subquery
 * would take them for its own.
 */
const whole = ({ name }: PgColumn): SQL => sql`${requestablePermissions}.${sql.identifier(name)}`

/** Converts permissions of one app to their wire form. */
export async function permissionsAnswer(
  db: Db,
  principal: Principal,
  { app, settings, whole }: Pick<VisibleApp, 'app' | 'settings' | 'whole'>,
  rows: PermissionRow[],
  inherited: boolean,
) {
  const view = settingsView(app, settings)
  const documents = rows.map((row) =>
    redactReferences(
      { whole },
      permissionView(row, app, view, { inherited, whole }),
      PERMISSION_PLACES,
    ),
  )
  return toObjects(db, principal, documents, PERMISSION_PLACES)
}

/** Reads a permission that the caller sees. @throws CoreError `not_found` */
export async function getPermission(db: Db, principal: Principal, id: string, inherited: boolean) {
  const [known] = isId(id)
    ? await db
        .select()
        .from(requestablePermissions)
        .where(
          and(
            eq(requestablePermissions.id, id),
            eq(requestablePermissions.domainId, principal.domainId),
          ),
        )
    : []
  // An app that the caller does not see hides its permissions too, so the error names the permission, not the
  // app.
  const found = known ? await findFound(db, principal, known.appId).catch(nullIfNotFound) : null
  if (!known || !found) throw notFound('Permission')
  const view = settingsView(found.app, found.settings)
  const [row] = await db
    .select()
    .from(requestablePermissions)
    .where(and(eq(requestablePermissions.id, known.id), permissionsFoundBy(principal, found, view)))
  if (!row) throw notFound('Permission')
  return (await permissionsAnswer(db, principal, found, [row], inherited))[0]
}
