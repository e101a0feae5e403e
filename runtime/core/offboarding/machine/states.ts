/**
 * States of the offboarding of a user (core-interface.md section 1.16) and their permitted successors. The
 * public sources only name the states; the moves are Keyway's own.
 */

import type { OffboardingStatus } from '../../../contract/models/user-offboarding.ts'
import type { StateRow } from '../../machine/states.ts'

/** Meaning and permitted successors of each state. */
export const OFFBOARDING_STATES = {
  SCHEDULED: { next: ['IN_PROGRESS', 'CANCELLED', 'FAILED'], meaning: 'its time has not come' },
  IN_PROGRESS: {
    next: ['COMPLETED', 'FAILED'],
    meaning: 'the user is INACTIVE and signed out; accounts and access are being taken',
  },
  DIVERTED: { next: [], meaning: 'kept for clients; nothing comes to it here' },
  CANCELLED: { next: [], meaning: 'it was cancelled before it began' },
  FAILED: { next: [], meaning: 'it ended before it was done; an ERROR task says why' },
  EXPIRED: { next: [], meaning: 'kept for clients; nothing comes to it here' },
  COMPLETED: {
    next: [],
    meaning: 'nothing is left of the user’s access but what people decided to leave',
  },
} as const satisfies Record<OffboardingStatus, StateRow<OffboardingStatus>>
