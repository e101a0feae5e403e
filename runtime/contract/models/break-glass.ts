/**
 * Break-glass permissions: members of some groups take them at once, for a short time, and the use is
 * reviewed afterwards. Keyway's own.
 */

import * as v from 'valibot'
import { described, maybe, strictObject } from '../schema/schemas.ts'
import { reasonText } from './reference.ts'
import type { TaskType } from './task-type.ts'

/** Longest break-glass access, in minutes: a day. */
export const MAX_GLASS_MINUTES = 1440
/** Maximum length of a reason, in characters. */
export const MAX_GLASS_REASON = 1000
/** Maximum number of groups of one permission. */
const MAX_GROUPS = 20

/** Type of the task that reviews a use. */
export const GLASS_TASK = 'BREAK_GLASS_REVIEW' satisfies TaskType

const minutes = (description: string) =>
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(MAX_GLASS_MINUTES),
    v.metadata({ description }),
  )

export const BreakGlassInput = strictObject('BreakGlassInput', {
  group_ids: v.pipe(
    v.array(v.string()),
    v.minLength(1),
    v.maxLength(MAX_GROUPS),
    v.metadata({ description: 'Members of any of these groups may take it' }),
  ),
  max_minutes: minutes('Maximum duration of one use'),
})
export type BreakGlassInput = v.InferOutput<typeof BreakGlassInput>

export const BreakGlass = strictObject(
  'BreakGlass',
  'A permission that is granted at once and reviewed afterwards',
  {
    id: described(v.string(), 'Id of the permission'),
    label: v.string(),
    app_id: v.string(),
    app_name: v.string(),
    group_ids: v.array(v.string()),
    max_minutes: v.number(),
  },
)
export type BreakGlass = v.InferInput<typeof BreakGlass>

export const TakeBreakGlassInput = strictObject('TakeBreakGlassInput', {
  reason: reasonText(MAX_GLASS_REASON, 'Why it cannot wait; visible to all approvers'),
  minutes: maybe(minutes('Duration. Absent: the maximum')),
})
export type TakeBreakGlassInput = v.InferOutput<typeof TakeBreakGlassInput>
