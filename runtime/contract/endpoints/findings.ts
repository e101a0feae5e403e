/**
 * Findings and separation-of-duties rules. Keyway's own: the public service publishes no endpoints for them.
 */
import {
  AcceptFindingInput,
  AccessFinding,
  FINDING_KINDS,
  FINDING_STATES,
  SEVERITIES,
} from '../models/finding.ts'
import { SeparationInput, SeparationRule } from '../models/separation.ts'
import { endpoint } from './endpoint.ts'
import { manyOf, text } from './params.ts'

const findings = endpoint('Findings')
const separation = endpoint('SeparationOfDuties')

export const FINDING_ENDPOINTS = {
  list_findings: findings.page('/findings', {
    summary: 'List findings, newest first; an App Admin sees those of their apps',
    who: 'caller',
    query: {
      state: manyOf(FINDING_STATES).describe('Only findings in one of these states'),
      kind: manyOf(FINDING_KINDS).describe('Only these kinds'),
      severity: manyOf(SEVERITIES).describe('Only these severities'),
      app_id: text().describe('Only in this app'),
      user_id: text().describe('Only of this person'),
      separation_rule_id: text().describe('Only findings about this rule'),
    },
    output: AccessFinding,
  }),
  get_finding: findings.get('/findings/:finding_id', {
    summary: 'Read a finding',
    who: 'caller',
    output: AccessFinding,
  }),
  accept_finding: findings.post('/findings/:finding_id/accept', {
    summary:
      'Accept an open finding until a given time, with a reason; accepting again changes both',
    who: 'findings.write',
    body: AcceptFindingInput,
    output: AccessFinding,
    errors: [409],
  }),
  reopen_finding: findings.post('/findings/:finding_id/reopen', {
    summary: 'Withdraw the acceptance of a finding',
    who: 'findings.write',
    output: AccessFinding,
    errors: [409],
  }),
  list_separation_rules: separation.page('/separation_of_duties', {
    summary: 'List separation-of-duties rules, newest first',
    who: 'findings.read',
    query: { name: text().describe('Part of the name') },
    output: SeparationRule,
  }),
  create_separation_rule: separation.post('/separation_of_duties', {
    summary:
      'Create a rule of separation of duties; people who already break it keep their access and get a finding',
    who: 'findings.write',
    body: SeparationInput,
    output: SeparationRule,
    status: 201,
    errors: [409],
  }),
  get_separation_rule: separation.get('/separation_of_duties/:separation_rule_id', {
    summary: 'Read a separation-of-duties rule',
    who: 'findings.read',
    output: SeparationRule,
  }),
  put_separation_rule: separation.put('/separation_of_duties/:separation_rule_id', {
    summary: 'Replace a rule of separation of duties entirely',
    who: 'findings.write',
    body: SeparationInput,
    output: SeparationRule,
  }),
  delete_separation_rule: separation.delete('/separation_of_duties/:separation_rule_id', {
    summary: 'Delete a separation-of-duties rule; its findings are resolved',
    who: 'findings.write',
  }),
} as const
