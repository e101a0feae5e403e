/** Short descriptions of what access requests are about, for lists of their tasks. */
import { eq, inArray } from 'drizzle-orm'
import type { TaskGrounds } from '../../contract/models/asking.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessRequests } from '../../database/schema/requests.ts'

/** What is requested, and for how long. */
export type RequestSubject = Pick<
  TaskGrounds,
  'app_name' | 'permission_label' | 'expiration_in_seconds'
>

/**
 * Returns the subjects of requests by id. Only for people who may act on a task of each request: this
 * function does not check that.
 */
export async function requestSubjects(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RequestSubject>> {
  if (ids.length === 0) return new Map()
  const of = accessRequests
  const rows = await db
    .select({ id: of.id, app: apps.name, label: of.label, seconds: of.expirationInSeconds })
    .from(of)
    .innerJoin(apps, eq(apps.id, of.appId))
    .where(inArray(of.id, [...new Set(ids)]))
  return new Map(
    rows.map(({ id, app, label, seconds }) => [
      id,
      { app_name: app, permission_label: label, expiration_in_seconds: seconds },
    ]),
  )
}
