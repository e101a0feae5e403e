/** Removing one line in its system, and reading whether it is gone: a successful answer proves nothing. */
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import type { EntitlementRef } from '../../database/schema/requests.ts'
import type { ItemRow, ReviewAppRow } from '../../database/schema/reviews.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import {
  type AppClient,
  failedCall,
  type StepOutcome,
  type SystemAnswer,
  throughApp,
} from '../provisioning/client.ts'
import { canBeRead, holdsEntitlement, statusOf, UNUSABLE } from '../provisioning/read-back.ts'
import type { Watch } from '../provisioning/readings.ts'
import { closeUnlessMoved, takeEntitlement } from '../provisioning/revoke.ts'
import { revokeFromSuccessors, successorsOf } from '../provisioning/successors.ts'

/**
 * Outcome of a try, in addition to those of a step:
 * - unproven: the system or webhook reported success, but no reading confirms it
 * - needed: the system requires the account to hold an entitlement of this type
 */
export type Taken =
  | StepOutcome
  | { ok: false; fault: 'unproven'; problem: string }
  | { ok: false; fault: 'needed'; problem: string }

/** Removes a line through the connector of its app. */
export async function take(
  db: Db,
  item: ItemRow,
  reviewApp: ReviewAppRow,
  app: AppRow,
  isLast: (manifestMin: number, type: string) => Promise<boolean>,
  watch: Watch,
  parts: RequestContext,
): Promise<Taken> {
  if (app.connectorId === null)
    return { ok: false, fault: 'manual', problem: 'the app has no connector' }
  let special: Taken | null = null
  const outcome = await throughApp(db, app, parts, async (client) => {
    const carrier = watch.over(client)
    const entitlement = entitlementOf(item)
    if (reviewApp.removalAction === 'MANUAL') return checkRemoved(db, carrier, item, entitlement)
    if (entitlement === null)
      return closeUnlessMoved(
        db,
        carrier,
        item.account,
        item.userId,
        capabilityOf(carrier, reviewApp),
      )
    const type = carrier.manifest.entitlement_types.find(
      ({ type_id }) => type_id === entitlement.entitlementType,
    )
    if (type && type.min > 0 && (await isLast(type.min, type.type_id))) {
      const problem = `an account must hold at least ${type.min} of ${type.type_label}; assign another one first`
      special = { ok: false, fault: 'needed', problem }
      return { ok: false, fault: 'manual', problem }
    }
    const taken = await revokeFromSuccessors(db, carrier, item.account, item.userId, (id) =>
      takeEntitlement(carrier, id, entitlement),
    )
    if (taken.ok && !canBeRead(carrier)) special = { ok: false, fault: 'unproven', problem: UNREAD }
    return taken
  })
  return special ?? outcome
}

const UNREAD =
  'the system reported success and cannot be checked; the next complete sync will do that'

/** Returns the entitlement of a line, or null for an account. */
export function entitlementOf(item: ItemRow): EntitlementRef | null {
  const { entitlementId, entitlementType, externalId, resourceId, resourceType } = item
  if (entitlementId === null) return null
  return {
    entitlementType: entitlementType ?? '',
    entitlementId: externalId ?? '',
    resourceType: resourceType ?? '',
    resourceId: resourceId ?? '',
  }
}

const capabilityOf = ({ has }: AppClient, { removalAction }: ReviewAppRow) =>
  removalAction === 'DEPROVISION' && has('delete_account') ? 'delete_account' : 'deactivate_account'

/**
 * Reports whether the system no longer shows a line. If its account does not exist, the owner's newer
 * accounts are checked too. Null if the system cannot be read.
 */
export async function isGone(
  db: Db,
  carrier: AppClient,
  item: ItemRow,
  entitlement: EntitlementRef | null,
): Promise<SystemAnswer<boolean> | null> {
  const gone = await isGoneFrom(carrier, item.account, entitlement)
  if (gone === null || !gone.ok || !gone.value) return gone
  const since = await successorsOf(db, carrier, item.account, item.userId)
  if (!since.ok) return since
  for (const id of since.value) {
    const next = await isGoneFrom(carrier, id, entitlement)
    if (next === null || !next.ok || !next.value) return next
  }
  return gone
}

async function isGoneFrom(
  carrier: AppClient,
  account: string,
  entitlement: EntitlementRef | null,
): Promise<SystemAnswer<boolean> | null> {
  if (entitlement === null) {
    const status = await statusOf(carrier, account)
    return status.ok ? { ok: true, value: UNUSABLE.includes(status.value) } : status
  }
  if (!canBeRead(carrier)) return null
  const there = await holdsEntitlement(carrier, account, entitlement)
  return there.ok ? { ok: true, value: !there.value } : there
}

/** Only reads whether people have removed a line. Returns `manual` if it still exists or cannot be read. */
export async function checkRemoved(
  db: Db,
  carrier: AppClient,
  item: ItemRow,
  entitlement: EntitlementRef | null,
): Promise<StepOutcome> {
  const gone = await isGone(db, carrier, item, entitlement)
  if (gone !== null && !gone.ok) return failedCall(gone.error)
  if (gone?.value) return { ok: true, found: true }
  return { ok: false, fault: 'manual', problem: 'removal by hand is configured for the review' }
}
