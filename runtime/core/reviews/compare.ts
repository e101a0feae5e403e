/** What later syncs say of the lines of a review: gone before they were decided, or gone because they were rejected. */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessReviewApps, type ReviewAppRow } from '../../database/schema/reviews.ts'
import { OPEN_STATES } from '../../database/schema/tasks.ts'
import { associationSpansOf } from '../history/associations.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { UNUSABLE } from '../provisioning/read-back.ts'
import { GONE } from '../provisioning/standings.ts'
import { longStatements, type RunRow } from '../sync/runs.ts'
import { closeAnswered } from './asking.ts'
import { UNDECIDED_STATES } from './machine/states.ts'
import { lastRuns } from './readiness.ts'

/** An account that is to give no access any more may stay, asleep. */
const ASLEEP = [...GONE, ...UNUSABLE.filter((one) => one !== null)]

/** A condition: the history has the line `i` no more. */
const isGone = (): SQL => sql`case when i.entitlement_id is null
  then not exists (select from account_spans s where s.account_id = i.account_id and s.until is null
    and (i.state in (${UNDECIDED_STATES}) or coalesce(s.status, '') <> all(${sql.param(ASLEEP)}::text[])))
  else not exists (select from ${associationSpansOf({
    domainId: sql`i.domain_id`,
    appId: sql`i.app_id`,
    accountId: sql`i.account_id`,
    entitlementId: sql`i.entitlement_id`,
  })} s where s.until is null) end`

/** Compares the lines of a locked app with the last complete sync, where that is one they were not compared with. */
export async function compareWithSync(
  tx: Db,
  arda: ReviewAppRow,
  means: Pick<CoreContext, 'now'>,
): Promise<void> {
  const { complete } = await lastRuns(tx, arda.appId)
  if (complete === null || complete.id <= (arda.seenRun ?? 0)) return
  await tx.execute(longStatements)
  await tx.execute(sql`
    update access_review_items i set state = 'VANISHED', gone_at = ${at(complete)}, gone_run = ${complete.id}
    where i.arda_id = ${arda.id} and i.state in (${UNDECIDED_STATES}) and ${isGone()}`)
  await tx.execute(sql`
    with removed as (
      update access_review_items i set state = 'REMOVED', problem = null, wake_at = null,
        gone_at = ${at(complete)}, gone_run = ${complete.id}
      where i.arda_id = ${arda.id} and i.state in ('REMOVING', 'WAITING_FOR_HANDS') and ${isGone()}
      returning i.task_id
    )
    update tasks set status = 'COMPLETED', updated_at = now()
    where status in (${OPEN_STATES}) and id in (select task_id from removed)`)
  // What the system said it took, and a sync begun after that still shows: it is tried again. Both moments are cut to
  // milliseconds, and the sync that is begun with the answer has the same.
  const now = (await means.now(tx)).toISOString()
  await tx.execute(sql`
    update access_review_items i set sent_at = null, attempts = attempts + 1, wake_at = ${now}::timestamptz,
      problem = 'the system answered success, but a later sync still shows it'
    where i.arda_id = ${arda.id} and i.state in ('REMOVING', 'WAITING_FOR_HANDS')
      and i.sent_at <= ${complete.createdAt.toISOString()}::timestamptz`)
  await closeAnswered(tx, arda.id)
  await tx
    .update(accessReviewApps)
    .set({ seenRun: complete.id })
    .where(eq(accessReviewApps.id, arda.id))
}

const at = ({ endedAt, createdAt }: RunRow): SQL =>
  sql`${(endedAt ?? createdAt).toISOString()}::timestamptz`
