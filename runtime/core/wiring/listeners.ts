/** LISTENERS: reactions of policies, requests and findings to changes in lower layers. */
import { accessChanged, peopleChanged } from '../findings/look-schedule.ts'
import type { Listeners } from '../kernel/context/listeners.ts'
import { appChanged, usersChanged } from '../policies/changed.ts'
import { endUndecidedRequests, lockRequestsFor } from '../requests/cancel.ts'

export const LISTENERS: Listeners = {
  async usersChanged(tx, domainId, userIds, deps) {
    await usersChanged(tx, domainId, userIds, deps)
    await peopleChanged(tx, domainId, userIds)
  },
  async appChanged(tx, app) {
    await appChanged(tx, app)
    await accessChanged(tx, { domainId: app.domainId, appId: app.id })
  },
  accessChanged,
  permissionLocked: lockRequestsFor,
  permissionDeleted: endUndecidedRequests,
}
