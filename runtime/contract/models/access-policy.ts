/** Access policies: grants to people by their attributes (core-interface.md sections 1.10 and 2.2). */
import * as v from 'valibot'
import { anyObject, described, maybe, object, strictObject } from '../schema/schemas.ts'
import { type Condition, conditionFault } from './condition.ts'
import { listOf, MAX_NAME } from './reference.ts'

/** Sort orders for lists of policies. */
export const POLICY_SORTS = ['created', '-created', 'name', '-name'] as const

export const POLICY_STATUSES = ['DRAFT', 'PUBLISHED'] as const

const PolicyPermissionInput = object('AccessPolicyPermissionInput', { id: v.string() })

const PolicyAppInput = object('AccessPolicyAppInput', {
  id: v.string(),
  is_preapproved: maybe(described(v.boolean(), 'Whether it is granted without approval')),
  permissions: maybe(
    described(listOf(PolicyPermissionInput), 'Empty: the app itself, without a permission'),
  ),
})

/**
 * Reports whether a condition is empty. A policy for everyone is returned with an empty one, which may be
 * sent back.
 */
const isNone = (value: Record<string, unknown>): boolean => Object.keys(value).length === 0

const condition = v.pipe(
  anyObject(),
  v.check(
    (value) => isNone(value) || conditionFault(value) === null,
    ({ input }) => conditionFault(input) ?? '',
  ),
  v.metadata({
    description:
      'An attribute such as `identity.email` or `identity.custom_attributes["Department"]` with operators, or `and`, `or`, `not` of conditions; empty only for everyone',
  }),
)

export const AccessPolicyInput = object('AccessPolicyInput', {
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_NAME)),
  business_justification: v.pipe(v.string(), v.maxLength(500)),
  status: maybe(described(v.picklist(POLICY_STATUSES), 'Default: DRAFT')),
  is_enabled: maybe(described(v.boolean(), 'Default: false')),
  apps: v.pipe(listOf(PolicyAppInput), v.minLength(1)),
  access_condition: maybe(condition),
  is_everyone_condition: maybe(
    described(v.boolean(), 'Whether it applies to everyone; then no condition is needed'),
  ),
})
export type AccessPolicyInput = v.InferOutput<typeof AccessPolicyInput>

const PolicyAppOutput = strictObject('AccessPolicyAppOutput', {
  id: v.string(),
  label: v.string(),
  is_preapproved: v.boolean(),
  permissions: v.array(
    strictObject('AccessPolicyPermissionOutput', { id: v.string(), label: v.string() }),
  ),
})

export const AccessPolicyOutput = strictObject(
  'AccessPolicyOutput',
  'Access granted to people by their attributes',
  {
    name: v.string(),
    business_justification: v.string(),
    id: v.string(),
    status: v.picklist(POLICY_STATUSES),
    is_enabled: v.boolean(),
    apps: v.array(PolicyAppOutput),
    access_condition: described(anyObject(), 'Empty for everyone'),
    is_everyone_condition: v.boolean(),
  },
)
export type AccessPolicyOutput = v.InferInput<typeof AccessPolicyOutput>

/** Apps of a policy, as stored. */
export type PolicyApp = { id: string; is_preapproved: boolean; permissions: string[] }

/** Returns a condition that `AccessPolicyInput` has validated, or null for an empty one. */
export const asCondition = (value: Record<string, unknown>): Condition | null =>
  // The cast holds because the condition was validated.
  isNone(value) ? null : (value as Condition)
