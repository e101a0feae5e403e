/**
 * States of the offboarding of a user (core-interface.md section 1.16) and their permitted successors. The
 * public sources only name the states; the moves are Keyway's own.
 */

import type { OffboardingStatus } from '../../../contract/models/user-offboarding.ts'
import type { StateRow } from '../../machine/states.ts'

/** Meaning and permitted successors of each state. */
export const OFFBOARDING_STATES = {
  SCHEDULED: { next: ['IN_PROGRESS', 'CANCELLED', 'FAILED'], meaning: 'it is scheduled for later' },
  IN_PROGRESS: {
    next: ['COMPLETED', 'FAILED'],
    meaning: 'the user is INACTIVE and signed out; accounts and access are being removed',
  },
  DIVERTED: { next: [], meaning: 'defined for clients; not used here' },
  CANCELLED: { next: [], meaning: 'it was cancelled before it began' },
  FAILED: { next: [], meaning: 'it failed before it was done; an ERROR task gives the reason' },
  EXPIRED: { next: [], meaning: 'defined for clients; not used here' },
  COMPLETED: {
    next: [],
    meaning: 'the user has no access left except what people decided to keep',
  },
} as const satisfies Record<OffboardingStatus, StateRow<OffboardingStatus>>
