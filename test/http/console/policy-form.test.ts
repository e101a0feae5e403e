/** The form of a policy: a condition survives the round trip through it. */
import { describe, expect, test } from 'vitest'
import type { AccessPolicyOutput } from '../../../runtime/contract/models/access-policy.ts'
import { draftIn, draftOf, policyBodyOf } from '../../../runtime/http/console/policy-form.ts'

const policy = (access_condition: Record<string, unknown>): AccessPolicyOutput => ({
  ...{ id: 'p', name: 'Sales', business_justification: 'They sell', is_everyone_condition: false },
  ...{ status: 'PUBLISHED', is_enabled: false, access_condition },
  apps: [
    { id: 'crm', label: 'CRM', is_preapproved: true, permissions: [] },
    {
      id: 'erp',
      label: 'ERP',
      is_preapproved: false,
      permissions: [{ id: 'read', label: 'Read' }],
    },
  ],
})

const Department = (operator: string, operand: unknown) => ({
  attribute: 'identity.custom_attributes["Department"]',
  [operator]: operand,
})

describe('a policy in its form', () => {
  test.each([
    [
      'all',
      { and: [Department('equals', 'Sales'), { attribute: 'identity.email', exists: true }] },
    ],
    ['any', { or: [Department('in', ['Sales', 'Support']), Department('starts_with', 'S')] }],
  ])('survives the round trip if %s of its conditions must hold', (who, condition) => {
    const draft = draftOf(policy(condition))
    expect([draft.who, draft.state]).toEqual([who, 'off'])
    expect(draft.lines[0]?.attribute).toBe('Department')
    const { id: _, apps, ...same } = policy(condition)
    expect(policyBodyOf(draft)).toEqual({
      ...same,
      apps: apps.map(({ label: _label, permissions, ...app }) => ({
        ...app,
        permissions: permissions.map((one) => ({ id: one.id })),
      })),
    })
  })

  test.each([
    ['is nested', { and: [{ not: Department('equals', 'Sales') }] }],
    ['has a single text for the operator “in”', Department('in', 'Sales and Support')],
    ['has values with commas', Department('in', ['Sales, EU', 'Support'])],
    ['has numbers', Department('equals', 7)],
    ['has two operators for one attribute', { ...Department('starts_with', 'S'), ends_with: 's' }],
  ])('is edited as text if its condition %s', (_name, condition) => {
    const draft = draftOf(policy(condition))
    expect(draft.who).toBe('text')
    expect(policyBodyOf(draft)['access_condition']).toEqual(condition)
  })

  test('reads the entered values, and skips empty lines', () => {
    const draft = draftIn(
      new Map([
        ...Object.entries({ name: ' Sales ', why: '', state: 'in_force', who: 'all' }),
        ...Object.entries({ 'attribute.0': 'Department', 'operator.0': 'in', 'value.0': 'A, B,' }),
        ...Object.entries({ 'attribute.1': '', 'operator.1': 'equals', 'value.1': '' }),
        ...Object.entries({
          'give.0': 'crm',
          'give.7': 'erp/read',
          'pre.0': 'erp',
          'give.x': 'no',
        }),
      ]),
    )
    expect(policyBodyOf(draft)).toMatchObject({
      ...{ name: 'Sales', status: 'PUBLISHED', is_enabled: true },
      access_condition: { and: [Department('in', ['A', 'B'])] },
      apps: [
        { id: 'crm', is_preapproved: false, permissions: [] },
        { id: 'erp', is_preapproved: true, permissions: [{ id: 'read' }] },
      ],
    })
  })
})
