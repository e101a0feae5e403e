/** Access policies: who is given what by what they are (core-interface.md sections 1.10 and 2.2). */
import * as v from 'valibot'
import { anyObject, described, maybe, object, strictObject } from '../schema/schemas.ts'
import { type Condition, conditionFault } from './condition.ts'
import { listOf, MAX_NAME } from './reference.ts'

/** Orders of lists of policies. */
export const POLICY_SORTS = ['created', '-created', 'name', '-name'] as const

export const POLICY_STATUSES = ['DRAFT', 'PUBLISHED'] as const

const PolicyPermissionInput = object('AccessPolicyPermissionInput', { id: v.string() })

const PolicyAppInput = object('AccessPolicyAppInput', {
  id: v.string(),
  is_preapproved: maybe(described(v.boolean(), 'Given without anybody being asked')),
  permissions: maybe(
    described(listOf(PolicyPermissionInput), 'Empty: the app itself, without a permission'),
  ),
})

/** As the policy of everybody is answered: what was read can be sent back. */
const isNone = (value: Record<string, unknown>): boolean => Object.keys(value).length === 0

const condition = v.pipe(
  anyObject(),
  v.check(
    (value) => isNone(value) || conditionFault(value) === null,
    ({ input }) => conditionFault(input) ?? '',
  ),
  v.metadata({
    description:
      'An attribute such as `identity.email` or `identity.custom_attributes["Department"]` with operators, or `and`, `or`, `not` of conditions; empty only for everybody',
  }),
)

export const AccessPolicyInput = object('AccessPolicyInput', {
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_NAME)),
  business_justification: v.pipe(v.string(), v.maxLength(500)),
  status: maybe(described(v.picklist(POLICY_STATUSES), 'DRAFT where nothing is said')),
  is_enabled: maybe(described(v.boolean(), 'False where nothing is said')),
  apps: v.pipe(listOf(PolicyAppInput), v.minLength(1)),
  access_condition: maybe(condition),
  is_everyone_condition: maybe(described(v.boolean(), 'Everybody; no condition is needed then')),
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
  'Who is given what by what they are',
  {
    name: v.string(),
    business_justification: v.string(),
    id: v.string(),
    status: v.picklist(POLICY_STATUSES),
    is_enabled: v.boolean(),
    apps: v.array(PolicyAppOutput),
    access_condition: described(anyObject(), 'Empty for everybody'),
    is_everyone_condition: v.boolean(),
  },
)
export type AccessPolicyOutput = v.InferInput<typeof AccessPolicyOutput>

/** What is kept of the apps of a policy. */
export type PolicyApp = { id: string; is_preapproved: boolean; permissions: string[] }

/** A condition that `AccessPolicyInput` has judged; null for an empty one. */
export const asCondition = (value: Record<string, unknown>): Condition | null =>
  // The cast: judged, as the docstring says.
  isNone(value) ? null : (value as Condition)
