import { expect, test } from 'vitest'
import { checkDeclaredTypes } from '../../runtime/invoke/declared-types.ts'

const manifest = {
  id: 'acme',
  resource_types: [{ type_id: 'TEAM', type_label: 'Team' }],
  entitlement_types: [
    { type_id: 'ROLE', type_label: 'Role', resource_type_id: '', min: 0 },
    { type_id: 'MEMBERSHIP', type_label: 'Membership', resource_type_id: 'TEAM', min: 0 },
  ],
}
const grant = (entitlement_type: string, resource_type: string) => ({
  account_integration_specific_id: 'u1',
  resource_integration_specific_id: '',
  resource_type,
  entitlement_type,
  entitlement_integration_specific_id: 'e1',
})
const GRANTS = [
  'assign_entitlement',
  'unassign_entitlement',
  'assign_application_entitlement',
  'unassign_application_entitlement',
] as const

test.each(GRANTS)('%s of types that are declared passes', (capability) => {
  for (const resource of ['', 'GLOBAL_RESOURCE', 'TEAM'])
    expect(() => checkDeclaredTypes(manifest, capability, grant('ROLE', resource))).not.toThrow()
})

test.each(GRANTS)('%s of an entitlement type that is not declared is refused', (capability) => {
  expect(() => checkDeclaredTypes(manifest, capability, grant('ROLES', ''))).toThrow(
    'request.entitlement_type: found "ROLES"; acme declares ROLE, MEMBERSHIP; did you mean ROLE?',
  )
})

test.each(GRANTS)('%s of a resource type that is not declared is refused', (capability) => {
  expect(() => checkDeclaredTypes(manifest, capability, grant('ROLE', 'SPACE'))).toThrow(
    'request.resource_type: found "SPACE"; acme declares TEAM, "" for the global resource',
  )
})

test('entitlements of a new account must have declared types too', () => {
  const made = (...types: string[]) => ({
    entitlements: types.map((entitlement_type) => ({ entitlement_type })),
  })
  expect(() => checkDeclaredTypes(manifest, 'create_account', made('ROLE'))).not.toThrow()
  expect(() => checkDeclaredTypes(manifest, 'create_account', made('ROLE', 'LICENSE'))).toThrow(
    'request.entitlements[1].entitlement_type: found "LICENSE"',
  )
})

test('the message reports that no types are declared, and stays short for many or long types', () => {
  const none = { ...manifest, entitlement_types: [] }
  expect(() => checkDeclaredTypes(none, 'assign_entitlement', grant('ROLE', ''))).toThrow(
    'acme declares no entitlement_types in its connector.json',
  )
  const many = Array.from({ length: 500 }, (_, index) => ({
    type_id: `T${index}`,
    type_label: 'T',
    resource_type_id: '',
    min: 0,
  }))
  const grantOfMany = () =>
    checkDeclaredTypes(
      { ...manifest, entitlement_types: many },
      'assign_entitlement',
      grant('x'.repeat(100_000), ''),
    )
  expect(grantOfMany).toThrow('480 more')
  try {
    grantOfMany()
  } catch (error) {
    expect((error as Error).message.length).toBeLessThan(400)
  }
})
