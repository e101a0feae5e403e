/** Separation-of-duties rules: two sets of access that no one may hold together. Keyway's own. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, strictObject } from '../schema/schemas.ts'
import { listOf, MAX_NAME, prose } from './reference.ts'

/** Effect of a rule when a person requests, or a policy would grant, access that breaks it. */
export const ON_REQUEST = {
  WARN: 'approvers see a warning; a policy grants the access, which results in a finding',
  EXCEPTION: 'the approvers of the rule also decide, after all others; pre-approval does not apply',
  BLOCK: 'a request is refused with 409; a grant by a policy is denied until no conflict remains',
} as const satisfies Record<string, string>
export type OnRequest = keyof typeof ON_REQUEST
/** Names of the effects, strictest last. */
export const ON_REQUEST_NAMES = keysOf(ON_REQUEST)

/** Maximum number of apps and of permissions of one side, and of approvers. */
const MAX_OF_SIDE = 100

const ids = (description: string) =>
  described(v.nullish(listOf(v.string(), MAX_OF_SIDE), []), description)

const sideInput = v.pipe(
  v.strictObject({
    apps: ids('Ids of apps; a person with an active account in one holds it'),
    permissions: ids('Ids of requestable permissions'),
  }),
  v.check(
    ({ apps, permissions }) => apps.length + permissions.length > 0,
    'a side needs an app or a permission',
  ),
  v.metadata({ title: 'SeparationSideInput', description: 'One of the two sets' }),
)

const words = described(
  v.picklist(ON_REQUEST_NAMES),
  Object.entries(ON_REQUEST)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join('. '),
)

export const SeparationInput = strictObject('SeparationOfDutiesInput', {
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_NAME)),
  description: v.nullish(prose('Why no one may hold both'), ''),
  is_enabled: v.nullish(v.boolean(), true),
  on_request: v.nullish(words, 'WARN'),
  left: sideInput,
  right: sideInput,
  approver_user_ids: ids('Users who decide on exceptions; empty: the admins of the app'),
  approver_group_ids: ids('Groups that decide on exceptions'),
})
export type SeparationInput = v.InferOutput<typeof SeparationInput>

const named = strictObject('SeparationMember', { id: v.string(), label: v.string() })
const side = strictObject(
  'SeparationSide',
  'Apps and permissions that were deleted since are left out',
  {
    apps: v.array(named),
    permissions: v.array(named),
  },
)

export const SeparationRule = strictObject(
  'SeparationOfDuties',
  'Two sets of access that no one may hold together',
  {
    id: v.string(),
    name: v.string(),
    description: v.string(),
    is_enabled: v.boolean(),
    on_request: words,
    left: side,
    right: side,
    approver_user_ids: v.array(v.string()),
    approver_group_ids: v.array(v.string()),
    created_at: v.string(),
  },
)
export type SeparationRule = v.InferInput<typeof SeparationRule>

/** A rule that requested access would break, as shown to approvers. */
export const SeparationConflict = strictObject('SeparationConflict', {
  id: v.string(),
  name: v.string(),
  on_request: words,
  holds: described(
    v.array(v.string()),
    'Access of the other side that the person holds or has requested',
  ),
})
export type SeparationConflict = v.InferInput<typeof SeparationConflict>
