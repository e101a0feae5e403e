/**
 * The machine of one line that is being removed: pure; `apply.ts` beside this folder writes. Decisions and syncs move
 * many lines by one statement (`decide.ts`, `close.ts`, `compare.ts`): it names the states before by `itemStatesBefore`.
 */

import type { Reading } from '../../../contract/models/reading.ts'
import type { TaskProgress } from '../../../contract/models/task.ts'
import type { ItemRow } from '../../../database/schema/reviews.ts'
import type { Transition } from '../../machine/effects.ts'
import type { Failed } from '../../provisioning/client.ts'
import { judgeFailure } from '../../requests/machine/failure.ts'
import { type NamedReview, recorded, systemOf } from './log.ts'

/** One write of a line: its state, where it changes, and what changes with it. */
export type LineWrite = Partial<
  Pick<
    ItemRow,
    'state' | 'problem' | 'attempts' | 'failingSince' | 'wakeAt' | 'sentAt' | 'goneAt' | 'taskId'
  >
>

/** What can happen to a line that is being removed. */
export type LineEvent =
  /** A person declined: to do the task of the line, or to revoke the request that gave it. */
  | { kind: 'declined'; problem: string }
  /** Requests that gave it have to end first. `byPeople`: people do that. */
  | { kind: 'held'; byPeople: boolean; wakeAt: Date }
  /** A request works on the same account. */
  | { kind: 'busy'; wakeAt: Date }
  /** A reading did not show it; null where it was not kept. */
  | { kind: 'gone'; reading: Reading | null }
  /** The system, or a webhook, answered that it took it, and reading does not show that it did. */
  | { kind: 'unproven'; problem: string }
  /** The system demands that the account holds one of these. */
  | { kind: 'needed'; problem: string }
  /** `isConnected`: whether the app has a connector, so that a sync can tell. */
  | { kind: 'failed'; failure: Failed; task: TaskProgress; isConnected: boolean }

/** Effects that only lines have. */
export type LineEffect =
  | { kind: 'close_task' }
  /** Asks people in place of those asked before. `goesOn`: it is tried too. */
  | { kind: 'open_task'; problem: string; goesOn: boolean }
  /** The next complete sync tells. */
  | { kind: 'sync_again' }

type LineTransition = Transition<LineWrite, LineEffect>

/** What follows from an event. */
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
  if (verdict.kind === 'hands') {
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

/** A person said that it is removed; it cannot be asked for, or still shows. */
function afterTask(
  row: ItemRow,
  isConnected: boolean,
  review: NamedReview,
  now: Date,
): LineTransition {
  if (!isConnected)
    return excepted(
      row,
      'removed by hand, as a person said; there is no system that could be read',
      review,
    )
  const problem = 'a person said that it is removed; the next complete sync will tell'
  return {
    writes: [{ problem, sentAt: now, wakeAt: null, taskId: null }],
    effects: [{ kind: 'sync_again' }],
  }
}

const excepted = (row: ItemRow, problem: string, review: NamedReview): LineTransition => ({
  writes: [{ state: 'EXCEPTED', problem, wakeAt: null }],
  effects: [recorded(review, systemOf(review), 'ITEM_EXCEPTED', { item_id: row.id })],
})
