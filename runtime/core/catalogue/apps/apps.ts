/** Apps: visibility, and reading. */
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import type { App } from '../../../contract/models/app.ts'
import type { Permission } from '../../../contract/models/roles.ts'
import type { Db } from '../../../database/database.ts'
import { prepared } from '../../../database/prepared.ts'
import { type AppRow, apps } from '../../../database/schema/apps.ts'
import { isId, rowOfId } from '../../kernel/by-id.ts'
import { reach } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { orderOf } from '../../kernel/list/order.ts'
import { selectPage } from '../../kernel/list/page.ts'
import { hasText } from '../../kernel/list/search.ts'

const byIds = prepared('apps by ids', (db) =>
  db
    .select()
    .from(apps)
    .where(sql`${apps.id} = any(${sql.placeholder('ids')}::uuid[])`),
)

/** Reads the apps with the given ids, in any order. Texts that are not ids are ignored. */
export const appsOf = (db: Db, ids: readonly string[]): Promise<AppRow[]> =>
  byIds(db, { ids: ids.filter(isId) })

/** Converts an app to its wire form. */
export function toApp(row: AppRow): App {
  const facts = { ...row.defaults, ...row.overrides }
  return {
    id: row.id,
    app_class_id: row.appClassId,
    instance_id: row.instanceId,
    user_friendly_label: row.name,
    status: row.status,
    sources: row.sources,
    allow_multiple_permission_selection: row.allowMultiplePermissionSelection,
    logo_url: facts.logo_url ?? null,
    website_url: facts.website_url ?? null,
    request_instructions: facts.request_instructions ?? null,
    description: facts.description ?? null,
    category: facts.category ?? null,
    disconnected: row.disconnectedAt !== null,
    links: { self: `/apps/${row.id}`, admin_url: `/apps/${row.id}/settings` },
    sync_status: row.syncStatus,
  }
}

/** Converts an app to its wire form with custom attributes, which are null unless requested. */
export const withAttributes = (row: AppRow, expand: readonly string[]) => ({
  ...toApp(row),
  custom_attributes: expand.includes('custom_attributes') ? row.customAttributes : null,
})

type AppQuery = QueryOf<'list_apps'>

export async function listApps(db: Db, principal: Principal, query: AppQuery) {
  const { name_search: name, exact_match: exact, connection_source: source, disconnected } = query
  const where = and(
    eq(apps.domainId, principal.domainId),
    reach(principal, 'apps.read'),
    hasText(apps.name, name, exact),
    source === null ? undefined : eq(apps.connectionSource, source),
    disconnected === null
      ? undefined
      : disconnected
        ? isNotNull(apps.disconnectedAt)
        : isNull(apps.disconnectedAt),
  )
  const order = orderOf({ name: apps.name }, query.sort ?? 'name', apps.id)
  return selectPage(db, apps, { where, order }, query, (rows) =>
    rows.map((row) => withAttributes(row, query.expand)),
  )
}

/**
 * Reads an app of the caller's domain, within the reach of a permission.
 *
 * @throws CoreError `forbidden` if the caller reaches no app, `not_found` for an app that does not exist or
 * is not reached
 */
export async function findApp(
  db: Db,
  principal: Principal,
  id: string,
  permission: Permission = 'apps.read',
): Promise<AppRow> {
  return rowOfId(db, apps, 'App', principal, id, { where: reach(principal, permission) })
}

/**
 * Reads an app like `findApp`, and locks it against changes until the transaction ends.
 *
 * @throws CoreError `forbidden`, `not_found`
 */
export async function lockApp(
  tx: Db,
  principal: Principal,
  id: string,
  permission: Permission,
): Promise<AppRow> {
  const where = reach(principal, permission)
  return rowOfId(tx, apps, 'App', principal, id, { lock: 'no key update', where })
}

export async function getApp(db: Db, principal: Principal, id: string, expand: string[]) {
  return withAttributes(await findApp(db, principal, id), expand)
}

/** Returns an app as a target of the activity log. */
export const appTarget = (row: AppRow) => ({ target_type: 'App', name: row.name, id: row.id })
