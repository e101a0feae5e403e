/**
 * State tables of reviews, their apps and their lines. The states of reviews and apps are those of the public
 * service (core-interface.md section 2.2). The moves, and the states of lines, are Keyway's own.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { ReviewAppStatus, ReviewStatus } from '../../../contract/models/access-review.ts'
import type { ItemState } from '../../../contract/models/review-item.ts'
import { keysOf } from '../../../contract/schema/keys.ts'
import { mayBecome, type StateRow } from '../../machine/states.ts'

/** Meaning and permitted successors of each state of a review. */
export const REVIEW_STATES = {
  SCHEDULED: {
    next: ['SCHEDULED_IN_PREPARATION', 'IN_PROGRESS', 'DELETED'],
    meaning: 'it has not been launched yet',
  },
  SCHEDULED_IN_PREPARATION: {
    next: ['IN_PROGRESS', 'COMPLETED', 'DELETED'],
    meaning: 'it is launched; its apps are being prepared',
  },
  IN_PREPARATION: {
    next: ['IN_PROGRESS', 'COMPLETED', 'DELETED'],
    meaning: 'its apps are being prepared',
  },
  IN_PROGRESS: {
    next: ['COMPLETED', 'DELETED'],
    meaning: 'people are deciding, or removals are in progress',
  },
  COMPLETED: { next: ['DELETED'], meaning: 'every line of every app is in a final state' },
  DELETED: { next: [], meaning: 'it was deleted; its record stays' },
  DUPLICATING: { next: [], meaning: 'defined for clients; not used here' },
  DUPLICATING_WAITING_FOR_CONFIRMATION: {
    next: [],
    meaning: 'defined for clients; not used here',
  },
} as const satisfies Record<ReviewStatus, StateRow<ReviewStatus>>

/** Meaning and permitted successors of each state of an app within a review. */
export const REVIEW_APP_STATES = {
  IN_PREPARATION: {
    next: ['ASSIGNING_REVIEWERS', 'DELETED'],
    meaning: 'it waits for a complete sync, or its lines are being created',
  },
  ASSIGNING_REVIEWERS: {
    next: ['IN_PROGRESS', 'DELETED'],
    meaning: 'reviewers are being assigned to lines',
  },
  IN_PROGRESS: {
    next: ['WAITING_FOR_MANUAL_ACTION', 'COMPLETED', 'DELETED'],
    meaning: 'people decide; then rejected access is removed',
  },
  WAITING_FOR_MANUAL_ACTION: {
    next: ['IN_PROGRESS', 'COMPLETED', 'DELETED'],
    meaning: 'the remaining removals wait for people',
  },
  COMPLETED: { next: ['DELETED'], meaning: 'every line is in a final state' },
  DELETED: { next: [], meaning: 'it was removed from the review; its record stays' },
} as const satisfies Record<ReviewAppStatus, StateRow<ReviewAppStatus>>

/** Meaning and permitted successors of each state of a line. */
export const ITEM_STATE_TABLE = {
  OPEN: {
    next: ['TO_CONFIRM', 'KEPT', 'REJECTED', 'TO_MODIFY', 'NOT_DECIDED', 'VANISHED'],
    meaning: 'not decided yet',
  },
  TO_CONFIRM: {
    next: ['KEPT', 'REJECTED', 'TO_MODIFY', 'NOT_DECIDED', 'VANISHED'],
    meaning: 'a reviewer kept it despite a red hint; another person must confirm that',
  },
  KEPT: { next: ['REJECTED', 'TO_MODIFY'], meaning: 'it may stay' },
  REJECTED: {
    next: ['TO_CONFIRM', 'KEPT', 'TO_MODIFY', 'REMOVING'],
    meaning: 'it is to be removed',
  },
  TO_MODIFY: {
    next: ['TO_CONFIRM', 'KEPT', 'REJECTED'],
    meaning: 'it must be changed; the reason says how',
  },
  NOT_DECIDED: { next: [], meaning: 'the review ended before it was decided' },
  VANISHED: {
    next: [],
    meaning: 'a complete sync no longer found it before it was decided',
  },
  REMOVING: {
    next: ['REMOVED', 'WAITING_FOR_HANDS', 'TO_MODIFY', 'EXCEPTED'],
    meaning: 'it is being removed, until a check of the system confirms that',
  },
  REMOVED: { next: [], meaning: 'a check of the system confirmed its removal' },
  WAITING_FOR_HANDS: {
    next: ['REMOVING', 'REMOVED', 'TO_MODIFY', 'EXCEPTED'],
    meaning: 'a person has a task to remove it',
  },
  EXCEPTED: {
    next: [],
    meaning:
      'a person declined to remove it, or reported it as removed from a system that cannot be checked',
  },
} as const satisfies Record<ItemState, StateRow<ItemState>>

/** Returns the states from which a line may move to a state. */
export const itemStatesBefore = (to: ItemState): ItemState[] =>
  keysOf(ITEM_STATE_TABLE).filter((from) => mayBecome<ItemState>(ITEM_STATE_TABLE, from, to))

/** State of a line after each decision. */
export const DECIDED = { KEEP: 'KEPT', REJECT: 'REJECTED', MODIFY: 'TO_MODIFY' } as const

/** States of lines that wait for a reviewer. */
export const UNDECIDED = ['OPEN', 'TO_CONFIRM'] as const satisfies readonly ItemState[]

/** Like UNDECIDED, as SQL. */
export const UNDECIDED_STATES: SQL = sql`'OPEN', 'TO_CONFIRM'`

/** States of lines that are being removed. */
export const LEAVING = ['REMOVING', 'WAITING_FOR_HANDS'] as const satisfies readonly ItemState[]
