/** Access policies: core-interface.md section 1.10. */
import { AccessPolicyInput, AccessPolicyOutput, POLICY_SORTS } from '../models/access-policy.ts'
import { endpoint } from './endpoint.ts'
import { oneOf, text } from './params.ts'

const policies = endpoint('AccessPolicies')

export const POLICY_ENDPOINTS = {
  list_access_policies: policies.page('/access_policies', {
    summary: 'List access policies, newest first',
    who: 'policies.read',
    query: {
      name: text().describe('Part of the name'),
      sort: oneOf(POLICY_SORTS).describe('Sort order; a leading minus reverses it'),
    },
    output: AccessPolicyOutput,
  }),
  create_access_policy: policies.post('/access_policies', {
    summary: 'Create an access policy',
    who: 'policies.write',
    body: AccessPolicyInput,
    output: AccessPolicyOutput,
  }),
  get_access_policy: policies.get('/access_policies/:access_policy_id', {
    summary: 'Read an access policy',
    who: 'policies.read',
    output: AccessPolicyOutput,
  }),
  put_access_policy: policies.put('/access_policies/:access_policy_id', {
    summary: 'Replace an access policy entirely',
    who: 'policies.write',
    body: AccessPolicyInput,
    output: AccessPolicyOutput,
  }),
  delete_access_policy: policies.delete('/access_policies/:access_policy_id', {
    summary: 'Delete an access policy',
    who: 'policies.write',
  }),
} as const
