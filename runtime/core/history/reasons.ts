/**
 * Reasons for a user's access: a span from when a request granted it until it was revoked, or left for good.
 */
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { reasonSpans } from '../../database/schema/history.ts'
import type { accessRequests } from '../../database/schema/requests.ts'
import { MOMENT } from './as-of.ts'

type Given = Pick<
  typeof accessRequests.$inferSelect,
  | 'id'
  | 'domainId'
  | 'targetUserId'
  | 'policyId'
  | 'appId'
  | 'carriedAppId'
  | 'label'
  | 'entitlement'
>

/** Begins the reason span of a request, at the time of the grant. */
export async function beginReason(tx: Db, request: Given): Promise<void> {
  const { id, targetUserId, domainId, policyId, appId, carriedAppId, label, entitlement } = request
  await tx
    .insert(reasonSpans)
    .values({
      ...{ domainId, policyId, appId, carriedAppId, label, entitlement },
      requestId: id,
      userId: targetUserId,
      since: MOMENT,
    })
    .onConflictDoNothing()
}

/** Ends the reason span of a request. Does nothing if it never began. */
export async function endReason(tx: Db, { id }: Pick<Given, 'id'>): Promise<void> {
  await ending(tx, { requestId: id })
}

const ending = prepared('end reason of access request', (db) =>
  db
    .update(reasonSpans)
    .set({ until: MOMENT })
    .where(and(eq(reasonSpans.requestId, sql.placeholder('requestId')), isNull(reasonSpans.until))),
)
