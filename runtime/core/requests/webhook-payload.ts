/**
 * Payload of webhooks: the members that the public service documents (core-interface.md section 1.17),
 * followed by Keyway's own: `event`, `access_request_id`, `requester`, `target`.
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
  /** App with this id, if already known. */
  app?: AppRow
  /** Empty for the app itself. */
  permissionIds: readonly string[]
  /** Null if a policy made the request. */
  requesterId: string | null
  /** Null if the person who has the access is not known. */
  targetUserId: string | null
  accessRequestId: string | null
  /** Type of the webhook. */
  event: string
}

/** Returns the payload of a call about a user's access. Objects that no longer exist are left out or null. */
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
