/** LISTENERS: what policies and requests do when something on a lower floor changes. */
import type { Listeners } from '../kernel/context/listeners.ts'
import { appChanged, usersChanged } from '../policies/changed.ts'
import { endAsked, lockRequestsFor } from '../requests/cancel.ts'

export const LISTENERS: Listeners = {
  usersChanged,
  appChanged,
  permissionLocked: lockRequestsFor,
  permissionDeleted: endAsked,
}
