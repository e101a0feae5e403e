/** Why a user has something: a span from when a request gave it until it was taken back, or left for good. */
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

/** Begins the reason that a request is, from when it was given. */
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

/** Ends it; one that never began is none. */
export async function endReason(tx: Db, { id }: Pick<Given, 'id'>): Promise<void> {
  await ending(tx, { requestId: id })
}

const ending = prepared('end reason of access request', (db) =>
  db
    .update(reasonSpans)
    .set({ until: MOMENT })
    .where(and(eq(reasonSpans.requestId, sql.placeholder('requestId')), isNull(reasonSpans.until))),
)
