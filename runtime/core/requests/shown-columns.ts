/** Columns needed to show an access request: those on the wire, and those that decide who may see it. */
import { eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { together } from '../../database/batched-lookups.ts'
import { prepared } from '../../database/prepared.ts'
import { apps } from '../../database/schema/apps.ts'
import { users } from '../../database/schema/people.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { type ShownUser, shownOf } from '../directory/users.ts'

const requestColumns = (of: typeof accessRequests) => ({
  ...{ id: of.id, domainId: of.domainId, appId: of.appId, permissionId: of.permissionId },
  ...{ requesterId: of.requesterId, targetUserId: of.targetUserId, isBreakGlass: of.isBreakGlass },
  ...{ status: of.status, notes: of.notes, createdAt: of.createdAt, expiresAt: of.expiresAt },
  ...{ expirationInSeconds: of.expirationInSeconds, revokedById: of.revokedById },
})
/** Columns of a request that are needed to show it. */
export type ShownRequest = Pick<
  typeof accessRequests.$inferSelect,
  keyof ReturnType<typeof requestColumns>
>

const appColumns = ({ id, name, appClassId, instanceId, ...of }: typeof apps) => ({
  ...{ id, name, appClassId, instanceId },
  ...{ adminUserIds: of.adminUserIds, adminGroupIds: of.adminGroupIds },
})
type ShownApp = Pick<typeof apps.$inferSelect, keyof ReturnType<typeof appColumns>>

/** Apps and people of requests, if already known. */
export type RequestParts = { apps: ShownApp[]; users: ShownUser[] }

const requesters = alias(users, 'requesters')
const revokers = alias(users, 'revokers')

const withTheirOwn = prepared('access requests with their own', (db) =>
  db
    .select({
      request: requestColumns(accessRequests),
      app: appColumns(apps),
      target: shownOf(users),
      requester: shownOf(requesters),
      revoker: shownOf(revokers),
    })
    .from(accessRequests)
    .innerJoin(apps, eq(apps.id, accessRequests.appId))
    .innerJoin(users, eq(users.id, accessRequests.targetUserId))
    .leftJoin(requesters, eq(requesters.id, accessRequests.requesterId))
    .leftJoin(revokers, eq(revokers.id, accessRequests.revokedById))
    .where(sql`${accessRequests.id} = any(${sql.placeholder('ids')}::uuid[])`),
)

/**
 * Reads a request by its id in lower case, with its app and people. Concurrent calls share one query, because
 * many clients poll requests at the same time.
 */
export const withItsOwn = together(
  (db, ids) => withTheirOwn(db, { ids }),
  ({ request }) => request.id,
)
