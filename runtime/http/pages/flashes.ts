/** FLASHES: what was just done -> what the next page says of it. */
import { mapValues } from '../../contract/schema/keys.ts'
import type { TaskActionType } from '../../core/tasks/task-actions.ts'
import type { Icon } from '../frame/icons.ts'
import type { Kind } from './states.ts'
import { BUTTONS } from './task-detail.ts'

export type Flash = { kind: Kind; icon: Icon; words: string }

/** It is done. */
export const good = (words: string): Flash => ({ kind: 'good', icon: 'check', words })

const OF_ACTIONS: Record<TaskActionType, Flash> = mapValues(BUTTONS, ({ done }) => good(done))

export const FLASHES = {
  ...OF_ACTIONS,
  asked: good('Your request is sent.'),
  withdrawn: good('Your request is withdrawn.'),
  saved: good('Your choice is saved.'),
  'given-back': good('You gave it back. Keyway removes it.'),
} as const satisfies Record<string, Flash>
