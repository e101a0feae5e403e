/** Warnings of a check about answers that the contract accepts. */
import { describe, expect, test } from 'vitest'
import type { CapabilityName } from '../../runtime/contract/capabilities/capabilities.ts'
import { doubtful } from '../../runtime/testing/warnings.ts'

const TYPES = {
  entitlement_types: [{ type_id: 'ROLE', type_label: 'Role', resource_type_id: '', min: 0 }],
  resource_types: [{ type_id: 'TEAM', type_label: 'Team' }],
}

const judged = (capability: CapabilityName, ...rows: unknown[]) =>
  doubtful(TYPES, capability, [{ response: rows }])

describe('doubtful answers', () => {
  test('are types that the manifest does not declare, each reported once', () => {
    const rows = ['ROLE', 'GROUP', 'GROUP'].map((entitlement_type) => ({ entitlement_type }))
    const words = [
      'returns entitlement_type "GROUP", which connector.json does not declare: access of this type cannot be granted. Declare it in entitlement_types',
    ]
    expect(judged('list_entitlements', ...rows)).toEqual(words)
    expect(judged('list_applications_entitlements', ...rows)).toEqual(words)
    expect(judged('list_resources', { resource_type: 'TEAM' }, { resource_type: 'SITE' })).toEqual([
      expect.stringContaining('resource_type "SITE"'),
    ])
  })

  test.each(['2030-01-31', '2030-01-31T18:00:00', '1893456000', 'yesterday', 12])(
    'are times such as %s',
    (moment) => {
      const words = [expect.stringContaining('not ISO 8601 with an offset')]
      expect(judged('get_last_activity', { happened_at: moment })).toEqual(words)
      expect(judged('list_activity_records', { timestamp: moment })).toEqual(words)
    },
  )

  test.each(['2030-01-31T18:00:00Z', '2030-01-31T18:00:00.123456Z', '2030-01-31T18:00:00+05:30'])(
    'are not times such as %s',
    (moment) => expect(judged('get_last_activity', { happened_at: moment })).toEqual([]),
  )

  test('are not reported for an error, or for a capability without such types', () => {
    expect(doubtful(TYPES, 'list_entitlements', [{ is_error: true, response: null }])).toEqual([])
    expect(judged('list_accounts', { entitlement_type: 'GROUP' })).toEqual([])
  })
})
