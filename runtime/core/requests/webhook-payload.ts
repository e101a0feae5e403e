/**
 * What webhooks are told: the members that the public service documents (core-interface.md section 1.17), and
 * behind them ours: `event`, `access_request_id`, `requester`, `target`.
 */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { requestablePermissions } from '../../database/schema/app_store.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { appsOf } from '../catalogue/apps/apps.ts'
import { anyOf } from '../catalogue/store/lookups.ts'
import { toUser, usersOf } from '../directory/users.ts'

type About = {
  domainId: string
  appId: string
  /** The same, where it is known already. */
  app?: AppRow
  /** Empty for the app itself. */
  permissionIds: readonly string[]
  /** Null where nobody asked: a policy gave it. */
  requesterId: string | null
  /** Null where nobody is known whose access it is. */
  targetUserId: string | null
  accessRequestId: string | null
  /** What is asked, or told: the webhook's type. */
  event: string
}

/** The payload of a call about a user's access; what does not exist any more is left out, or null. */
export async function webhookPayload(db: Db, about: About): Promise<Record<string, unknown>> {
  const { domainId, appId, permissionIds, requesterId, targetUserId } = about
  const found = about.app ? [about.app] : await appsOf(db, [appId])
  const [app] = found.filter((one) => one.domainId === domainId)
  const ofDomain = eq(requestablePermissions.domainId, domainId)
  const permissions =
    permissionIds.length === 0
      ? []
      : await db
          .select()
          .from(requestablePermissions)
          .where(and(ofDomain, anyOf(requestablePermissions.id, [...permissionIds])))
  const ids = [requesterId, targetUserId].filter((id) => id !== null)
  const people = (await usersOf(db, ids)).filter((one) => one.domainId === domainId)
  const person = (id: string | null) => {
    const found = people.find((one) => one.id === id)
    return found ? toUser(found) : null
  }
  return {
    application: {
      app_id: app?.appClassId ?? null,
      instance_id: app?.instanceId ?? null,
      user_friendly_label: app?.name ?? null,
    },
    permissions: permissions.map(({ id, label, entitlementId, type }) => ({
      label,
      value: entitlementId ?? id,
      type: 'PERMISSION',
      source: type,
    })),
    custom_fields: null,
    event: about.event,
    access_request_id: about.accessRequestId,
    requester: person(requesterId),
    target: person(targetUserId),
  }
}
