/** Removing a line through the operator's webhook. Called once; a reading must confirm its answer. */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import {
  accessReviewItems,
  type ItemRow,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { failedCall, type StepOutcome, throughApp } from '../provisioning/client.ts'
import type { Watch } from '../provisioning/readings.ts'
import { storeSettingsOf } from '../requests/subject.ts'
import { webhookPayload } from '../requests/webhook-payload.ts'
import { callOnce } from '../requests/webhooks.ts'
import { callWebhook } from '../webhooks/call.ts'
import { systemOf } from './machine/log.ts'
import { checkRemoved, entitlementOf, isGone, type Taken } from './remove-line.ts'
import { noteReview } from './rows.ts'

type Config = Awaited<ReturnType<typeof storeSettingsOf>>

/** Reports whether an app, or any of its permissions, has a removal webhook. */
export async function hasRemovalWebhook(db: Db, { appId }: ReviewAppRow): Promise<boolean> {
  const { rows } = await db.execute<{ has: boolean }>(sql`
    select exists (select from app_store_settings where app_id = ${appId}
        and document #>> '{provisioning,access_removal_inline_webhook}' is not null)
      or exists (select from requestable_permissions where app_id = ${appId}
        and document ->> 'access_removal_inline_webhook' is not null) as has`)
  return rows[0]?.has ?? false
}

/** Reads the system, calls the webhook of the line's permission or else of its app, and reads again. */
export async function takeByWebhook(
  db: Db,
  item: ItemRow,
  review: ReviewRow,
  app: AppRow,
  watch: Watch,
  parts: RequestContext,
): Promise<Taken> {
  const entitlement = entitlementOf(item)
  const hasSystem = app.connectorId !== null
  if (hasSystem) {
    const before = await throughApp(db, app, parts, (carrier) =>
      checkRemoved(db, watch.over(carrier), item, entitlement),
    )
    if (before.ok || before.fault !== 'manual') return before
  }
  const settings = await storeSettingsOf(db, app, entitlement)
  const webhookId = settings.config.removalWebhook
  if (webhookId === null) return byHand('no webhook is set to revoke it')
  const answered = await callOnce({
    called:
      item.calledAt === null
        ? null
        : `the webhook was called, ${hasSystem ? 'but the system does not show it removed' : NO_SYSTEM}`,
    noteCall: () => noteCall(db, item, review, webhookId, parts),
    call: async () =>
      callWebhook(db, parts, { webhookId, payload: await payloadOf(db, item, review, settings) }),
  })
  if (!answered.ok) return answered
  return hasSystem
    ? readBack(db, item, app, watch, parts)
    : byHand(`the webhook reported success, ${NO_SYSTEM}`)
}

const NO_SYSTEM = 'and there is no system to check'

const byHand = (problem: string): StepOutcome => ({ ok: false, fault: 'manual', problem })

/** Marked before the call: if the host dies during it, people take over, and it is not called twice. */
const noteCall = (
  db: Db,
  { id, appId }: ItemRow,
  review: ReviewRow,
  webhookId: string,
  { now }: RequestContext,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    await tx
      .update(accessReviewItems)
      .set({ calledAt: await now(tx) })
      .where(eq(accessReviewItems.id, id))
    const about = { item_id: id, app_id: appId, webhook_id: webhookId }
    await noteReview(tx, systemOf(review), review, 'WEBHOOK_CALLED', about)
    return true
  })

async function payloadOf(
  db: Db,
  item: ItemRow,
  { id, name, domainId }: ReviewRow,
  { permission }: Config,
): Promise<Record<string, unknown>> {
  const payload = await webhookPayload(db, {
    ...{ domainId, appId: item.appId, permissionIds: permission ? [permission.id] : [] },
    ...{ requesterId: null, targetUserId: item.userId, accessRequestId: null },
    event: 'DEPROVISION',
  })
  // Names an entitlement that is not in the store: without it, the payload would look like one for the
  // account.
  const unlisted = {
    label: item.label,
    value: item.externalId,
    type: 'PERMISSION',
    source: 'SYNCED',
  }
  return {
    ...payload,
    ...(permission === null && item.entitlementId !== null ? { permissions: [unlisted] } : {}),
    ...{ business_justification: item.reason, expiration_in_seconds: null },
    access_review: { id, name, item_id: item.id },
    account: { unique_identifier: item.account, email: item.accountEmail },
  }
}

/** Reads the system after a successful call. If it still shows the line, a later sync decides. */
async function readBack(
  db: Db,
  item: ItemRow,
  app: AppRow,
  watch: Watch,
  parts: RequestContext,
): Promise<Taken> {
  let unproven: Taken | null = null
  const outcome = await throughApp(db, app, parts, async (client) => {
    const carrier = watch.over(client)
    const look = () => isGone(db, carrier, item, entitlementOf(item))
    const isReadable = (await look()) !== null
    const gone = await carrier.until(async () => {
      const now = await look()
      return now === null ? true : now.ok ? now.value : now
    })
    if (!gone.ok) return failedCall(gone.error)
    if (isReadable && gone.value) return { ok: true, found: false }
    const seen = isReadable ? 'but the system still shows it' : 'and the system cannot be checked'
    const problem = `the webhook reported success, ${seen}; the next complete sync will check that`
    unproven = { ok: false, fault: 'unproven', problem }
    return { ok: true, found: false }
  })
  return unproven ?? outcome
}
