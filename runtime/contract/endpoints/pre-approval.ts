/** Pre-approval rules: core-interface.md section 1.8. */
import {
  PreApprovalRuleInput,
  PreApprovalRuleOutput,
  PreApprovalRuleUpdateInput,
} from '../models/pre-approval-rule.ts'
import { endpoint } from './endpoint.ts'
import { requiredText } from './params.ts'

const rules = endpoint('PreApproval')

export const PRE_APPROVAL_ENDPOINTS = {
  list_pre_approval_rules: rules.page('/appstore/pre_approval_rules', {
    summary: 'List the pre-approval rules of an app, oldest first',
    who: 'caller',
    query: { app_id: requiredText().describe('Id of the app') },
    output: PreApprovalRuleOutput,
  }),
  create_pre_approval_rule: rules.post('/appstore/pre_approval_rules', {
    summary: 'Create a pre-approval rule',
    who: 'caller',
    body: PreApprovalRuleInput,
    output: PreApprovalRuleOutput,
    status: 201,
  }),
  get_pre_approval_rule: rules.get('/appstore/pre_approval_rules/:pre_approval_rule_id', {
    summary: 'Read a pre-approval rule',
    who: 'caller',
    output: PreApprovalRuleOutput,
  }),
  update_pre_approval_rule: rules.patch('/appstore/pre_approval_rules/:pre_approval_rule_id', {
    summary: 'Change the given members; the justification is required',
    who: 'caller',
    body: PreApprovalRuleUpdateInput,
    output: PreApprovalRuleOutput,
  }),
  delete_pre_approval_rule: rules.delete('/appstore/pre_approval_rules/:pre_approval_rule_id', {
    summary: 'Delete a pre-approval rule',
    who: 'caller',
  }),
} as const
