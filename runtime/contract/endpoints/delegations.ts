/** Delegates of approvers. Keyway's own. */
import { Delegation, DelegationInput } from '../models/delegation.ts'
import { endpoint } from './endpoint.ts'
import { text } from './params.ts'

const delegations = endpoint('Delegations')

export const DELEGATION_ENDPOINTS = {
  list_delegations: delegations.page('/delegations', {
    summary: 'List delegations, newest first: those of the caller, or with tasks.read all of them',
    who: 'caller',
    query: {
      user_id: text().describe('Only delegations of this person'),
      delegate_id: text().describe('Only delegations to this person'),
    },
    output: Delegation,
  }),
  create_delegation: delegations.post('/delegations', {
    summary: 'Name a delegate for decisions on access requests for a period of time',
    who: 'caller',
    body: DelegationInput,
    output: Delegation,
    status: 201,
    errors: [409],
  }),
  end_delegation: delegations.delete('/delegations/:delegation_id', {
    summary: 'End a delegation at once; open to either person, or with tasks.write',
    who: 'caller',
    errors: [409],
  }),
} as const
