/** FLASHES: what was just done -> what the next page says of it. */
import type { TaskActionType } from '../../core/tasks/task-actions.ts'
import type { Icon } from '../frame/icons.ts'
import type { Kind } from './states.ts'
import { BUTTONS } from './task-detail.ts'

export type Flash = { kind: Kind; icon: Icon; words: string }

/** It is done. */
export const good = (words: string): Flash => ({ kind: 'good', icon: 'check', words })

/** The cast: `fromEntries` forgets the names. */
const OF_ACTIONS = Object.fromEntries(
  Object.entries(BUTTONS).map(([name, { done }]) => [name, good(done)]),
) as Record<TaskActionType, Flash>

export const FLASHES = {
  ...OF_ACTIONS,
  asked: good('Your request is sent.'),
  withdrawn: good('Your request is withdrawn.'),
  saved: good('Your choice is saved.'),
  'given-back': good('You gave it back. Keyway removes it.'),
} as const satisfies Record<string, Flash>
