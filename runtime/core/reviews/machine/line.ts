/**
 * State machine of one line being removed. Pure; ../apply.ts writes. Decisions and syncs move many lines in
 * one statement (`decide.ts`, `close.ts`, `compare.ts`), which names the states before by `itemStatesBefore`.
 */

import type { Reading } from '../../../contract/models/reading.ts'
import type { TaskProgress } from '../../../contract/models/task.ts'
import type { ItemRow } from '../../../database/schema/reviews.ts'
import type { Transition } from '../../machine/effects.ts'
import type { Failed } from '../../provisioning/client.ts'
import { judgeFailure } from '../../requests/machine/failure.ts'
import { type NamedReview, recorded, systemOf } from './log.ts'

/** Write of a line: its state, if it changes, and other columns. */
export type LineWrite = Partial<
  Pick<
    ItemRow,
    'state' | 'problem' | 'attempts' | 'failingSince' | 'wakeAt' | 'sentAt' | 'goneAt' | 'taskId'
  >
>

/** Event of a line that is being removed. */
export type LineEvent =
  /** A person declined the task of the line, or to revoke the request that granted it. */
  | { kind: 'declined'; problem: string }
  /** Requests that granted it have to end first. `byPeople`: people revoke them. */
  | { kind: 'held'; byPeople: boolean; wakeAt: Date }
  /** A request is being carried out for the same account. */
  | { kind: 'busy'; wakeAt: Date }
  /** A reading no longer shows it. `reading` is null if it was not kept. */
  | { kind: 'gone'; reading: Reading | null }
  /** The system or webhook reported success, but no reading confirms it. */
  | { kind: 'unproven'; problem: string }
  /** The system requires the account to hold an entitlement of this type. */
  | { kind: 'needed'; problem: string }
  /** `isConnected`: whether the app has a connector, so that a sync can confirm a removal. */
  | { kind: 'failed'; failure: Failed; task: TaskProgress; isConnected: boolean }

/** Effects that only lines have. */
export type LineEffect =
  | { kind: 'close_task' }
  /** Opens a task, closing an earlier one. `goesOn`: automatic tries continue. */
  | { kind: 'open_task'; problem: string; goesOn: boolean }
  /** Starts a sync, which will confirm the removal or not. */
  | { kind: 'sync_again' }

type LineTransition = Transition<LineWrite, LineEffect>

/** Returns the consequences of an event. */
export function lineTransition(
  row: ItemRow,
  event: LineEvent,
  review: NamedReview,
  now: Date,
): LineTransition {
  switch (event.kind) {
    case 'declined':
      return excepted(row, event.problem, review)
    case 'held': {
      const state = event.byPeople ? 'WAITING_FOR_HANDS' : 'REMOVING'
      return { writes: [{ state, wakeAt: event.wakeAt }], effects: [] }
    }
    case 'busy':
      return { writes: [{ wakeAt: event.wakeAt }], effects: [] }
    case 'gone': {
      const { reading } = event
      const metadata = {
        ...{ item_id: row.id, app_id: row.appId, attempts: row.attempts + 1 },
        ...(reading === null ? {} : { call_id: reading.call_id, capability: reading.capability }),
      }
      return {
        writes: [{ state: 'REMOVED', problem: null, wakeAt: null, goneAt: now }],
        effects: [
          { kind: 'close_task' },
          recorded(review, systemOf(review), 'ITEM_REMOVED', metadata),
        ],
      }
    }
    case 'unproven':
      return {
        writes: [{ sentAt: now, wakeAt: null, problem: event.problem }],
        effects: [{ kind: 'sync_again' }],
      }
    case 'needed':
      return {
        writes: [{ state: 'TO_MODIFY', problem: event.problem, wakeAt: null }],
        effects: [{ kind: 'close_task' }],
      }
    case 'failed':
      return failed(row, event, review, now)
  }
}

function failed(
  row: ItemRow,
  { failure, task, isConnected }: Extract<LineEvent, { kind: 'failed' }>,
  review: NamedReview,
  now: Date,
): LineTransition {
  const verdict = judgeFailure({ ...row, pendingOperation: 'remove' }, failure, now)
  const { problem } = failure
  if (verdict.kind === 'manual') {
    if (task === 'done') return afterTask(row, isConnected, review, now)
    return {
      writes: [{ state: 'WAITING_FOR_HANDS', problem, wakeAt: null }],
      effects: [{ kind: 'open_task', problem, goesOn: false }],
    }
  }
  const { attempts, failingSince, wakeAt, tell } = verdict
  const again = { problem, attempts, failingSince, wakeAt }
  if (!tell || task === 'asked') return { writes: [again], effects: [] }
  return {
    writes: [{ ...again, state: 'WAITING_FOR_HANDS' }],
    effects: [{ kind: 'open_task', problem, goesOn: true }],
  }
}

/** Handles a report that a person removed it, if the system cannot be read or still shows it. */
function afterTask(
  row: ItemRow,
  isConnected: boolean,
  review: NamedReview,
  now: Date,
): LineTransition {
  if (!isConnected)
    return excepted(
      row,
      'removed by hand, according to a person; there is no system to check',
      review,
    )
  const problem = 'a person reported it as removed; the next complete sync will check that'
  return {
    writes: [{ problem, sentAt: now, wakeAt: null, taskId: null }],
    effects: [{ kind: 'sync_again' }],
  }
}

const excepted = (row: ItemRow, problem: string, review: NamedReview): LineTransition => ({
  writes: [{ state: 'EXCEPTED', problem, wakeAt: null }],
  effects: [recorded(review, systemOf(review), 'ITEM_EXCEPTED', { item_id: row.id })],
})
