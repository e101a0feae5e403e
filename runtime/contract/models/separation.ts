/** Rules of separation of duties: two sets of access that nobody may hold together. Ours. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, strictObject } from '../schema/schemas.ts'
import { listOf, MAX_NAME, prose } from './reference.ts'

/** ON_REQUEST: what a rule does when a person asks for what would break it, or a policy would give it. */
export const ON_REQUEST = {
  WARN: 'approvers see it; a policy gives it, and a finding says so',
  EXCEPTION: 'the approvers of the rule decide too, after all others; pre-approval does not count',
  BLOCK:
    'a request is refused with 409; what a policy asks for is denied, until nothing stands against it',
} as const satisfies Record<string, string>
export type OnRequest = keyof typeof ON_REQUEST
/** The strictest last. */
export const ON_REQUEST_NAMES = keysOf(ON_REQUEST)

/** Most apps and permissions of one side, and most approvers. */
const MAX_OF_SIDE = 100

const ids = (description: string) =>
  described(v.nullish(listOf(v.string(), MAX_OF_SIDE), []), description)

const sideInput = v.pipe(
  v.strictObject({
    apps: ids('Apps by id: who has an active account there holds it'),
    permissions: ids('Requestable permissions by id'),
  }),
  v.check(
    ({ apps, permissions }) => apps.length + permissions.length > 0,
    'a side needs an app or a permission',
  ),
  v.metadata({ title: 'SeparationSideInput', description: 'One of two sets' }),
)

const words = described(
  v.picklist(ON_REQUEST_NAMES),
  Object.entries(ON_REQUEST)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join('. '),
)

export const SeparationInput = strictObject('SeparationOfDutiesInput', {
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_NAME)),
  description: v.nullish(prose('Why nobody may hold both'), ''),
  is_enabled: v.nullish(v.boolean(), true),
  on_request: v.nullish(words, 'WARN'),
  left: sideInput,
  right: sideInput,
  approver_user_ids: ids('Who decides on exceptions; nobody: the admins of the app'),
  approver_group_ids: ids('Groups that decide on exceptions'),
})
export type SeparationInput = v.InferOutput<typeof SeparationInput>

const named = strictObject('SeparationMember', { id: v.string(), label: v.string() })
const side = strictObject('SeparationSide', 'What was deleted since is left out', {
  apps: v.array(named),
  permissions: v.array(named),
})

export const SeparationRule = strictObject(
  'SeparationOfDuties',
  'Two sets of access that nobody may hold together',
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

/** A rule that access which is asked for would break, for those who decide. */
export const SeparationConflict = strictObject('SeparationConflict', {
  id: v.string(),
  name: v.string(),
  on_request: words,
  holds: described(v.array(v.string()), 'What the person holds or has asked for of the other side'),
})
export type SeparationConflict = v.InferInput<typeof SeparationConflict>
