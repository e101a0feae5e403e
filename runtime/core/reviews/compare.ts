/** Comparison of lines with later syncs: lines gone before their decision, or because they were rejected. */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessReviewApps, type ReviewAppRow } from '../../database/schema/reviews.ts'
import { OPEN_STATES } from '../../database/schema/tasks.ts'
import { associationSpansOf } from '../history/association-spans.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { UNUSABLE } from '../provisioning/read-back.ts'
import { GONE } from '../provisioning/standings.ts'
import { longStatements, type RunRow } from '../sync/runs.ts'
import { UNDECIDED_STATES } from './machine/states.ts'
import { lastRuns } from './readiness.ts'
import { closeAnswered } from './reviewer-tasks.ts'

/** Statuses that count as removed: a rejected account may continue to exist unusable. */
const ASLEEP = [...GONE, ...UNUSABLE.filter((one) => one !== null)]

/** Condition that the line `i` is no longer in the history. */
const isGone = (): SQL => sql`case when i.entitlement_id is null
  then not exists (select from account_spans s where s.account_id = i.account_id and s.until is null
    and (i.state in (${UNDECIDED_STATES}) or coalesce(s.status, '') <> all(${sql.param(ASLEEP)}::text[])))
  else not exists (select from ${associationSpansOf({
    domainId: sql`i.domain_id`,
    appId: sql`i.app_id`,
    accountId: sql`i.account_id`,
    entitlementId: sql`i.entitlement_id`,
  })} s where s.until is null) end`

/** Compares the lines of a locked app with the last complete sync, unless that was done before. */
export async function compareWithSync(
  tx: Db,
  reviewApp: ReviewAppRow,
  deps: Pick<CoreContext, 'now'>,
): Promise<void> {
  const { complete } = await lastRuns(tx, reviewApp.appId)
  if (complete === null || complete.id <= (reviewApp.seenRun ?? 0)) return
  await tx.execute(longStatements)
  await tx.execute(sql`
    update access_review_items i set state = 'VANISHED', gone_at = ${at(complete)}, gone_run = ${complete.id}
    where i.arda_id = ${reviewApp.id} and i.state in (${UNDECIDED_STATES}) and ${isGone()}`)
  await tx.execute(sql`
    with removed as (
      update access_review_items i set state = 'REMOVED', problem = null, wake_at = null,
        gone_at = ${at(complete)}, gone_run = ${complete.id}
      where i.arda_id = ${reviewApp.id} and i.state in ('REMOVING', 'WAITING_FOR_HANDS') and ${isGone()}
      returning i.task_id
    )
    update tasks set status = 'COMPLETED', updated_at = now()
    where status in (${OPEN_STATES}) and id in (select task_id from removed)`)
  // The system reported success, but a sync started after that still shows the line: try again. Both times
  // are cut to milliseconds. A sync started together with the answer has the same time.
  const now = (await deps.now(tx)).toISOString()
  await tx.execute(sql`
    update access_review_items i set sent_at = null, attempts = attempts + 1, wake_at = ${now}::timestamptz,
      problem = 'the system reported success, but a later sync still shows it'
    where i.arda_id = ${reviewApp.id} and i.state in ('REMOVING', 'WAITING_FOR_HANDS')
      and i.sent_at <= ${complete.createdAt.toISOString()}::timestamptz`)
  await closeAnswered(tx, reviewApp.id)
  await tx
    .update(accessReviewApps)
    .set({ seenRun: complete.id })
    .where(eq(accessReviewApps.id, reviewApp.id))
}

const at = ({ endedAt, createdAt }: RunRow): SQL =>
  sql`${(endedAt ?? createdAt).toISOString()}::timestamptz`
