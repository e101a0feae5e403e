/** LISTENERS: what policies, requests, findings and settings do when something on a lower floor changes. */
import { leaveStore } from '../catalogue/store/leave.ts'
import { endDelegationsOf } from '../delegation/leave.ts'
import { accessChanged, peopleChanged } from '../findings/looks.ts'
import type { Listeners } from '../kernel/context/listeners.ts'
import { appChanged, usersChanged } from '../policies/changed.ts'
import { endAsked, lockRequestsFor } from '../requests/cancel.ts'
import { leaveRequests } from '../requests/leave.ts'
import { leaveReviews } from '../reviews/leave.ts'
import { leaveSeparationRules } from '../separation/leave.ts'

export const LISTENERS: Listeners = {
  async usersChanged(tx, domainId, userIds, means) {
    await usersChanged(tx, domainId, userIds, means)
    await peopleChanged(tx, domainId, userIds)
  },
  async appChanged(tx, app) {
    await appChanged(tx, app)
    await accessChanged(tx, { domainId: app.domainId, appId: app.id })
  },
  async userDeleted(tx, deleted) {
    // In the global lock order: requests, permissions.
    await leaveRequests(tx, deleted)
    await leaveStore(tx, deleted)
    await leaveSeparationRules(tx, deleted)
    await leaveReviews(tx, deleted)
    await endDelegationsOf(tx, deleted)
  },
  accessChanged,
  permissionLocked: lockRequestsFor,
  permissionDeleted: endAsked,
}
