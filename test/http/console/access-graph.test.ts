/** The graph that explains the access of a person: a box for each permission, an edge for each reason. */
import { expect, test } from 'vitest'
import type { Access, AccessReason } from '../../../runtime/contract/models/access.ts'
import { accessGraph, linesOf } from '../../../runtime/http/console/access-graph.ts'
import { localeOf } from '../../../runtime/http/frame/locale.ts'

const t = localeOf('en')
const found: AccessReason = {
  ...{ kind: 'found', request_id: null, policy_id: null, policy_name: null },
  ...{ request_status: null, ends_at: null, since: null, until: null },
  ...{ end_reason: null, revoked_by_user_id: null },
}

const held = (more: Partial<Access>): Access => ({
  ...{ kind: 'entitlement', app_id: null, app_name: null, account_id: null },
  ...{ unique_identifier: null, status: null, group_id: null, entitlement_type: null },
  ...{ entitlement_id: null, resource_id: null, label: 'Editor', reasons: [found] },
  ...{ since: '2026-01-01T00:00:00Z', until: null, first_run: 1, last_run: 1, gone_run: null },
  ...more,
})

test('membership of a directory group is listed even if nothing granted it', () => {
  const [line] = linesOf(t, [held({ kind: 'group', label: 'Finance' })])
  expect(line).toMatchObject({ kind: 'group', permission: 'Finance', app: 'Directory' })
})

test('a grant of the app itself is listed as access to it', () => {
  const [line] = linesOf(t, [held({ kind: 'granted', label: null, app_name: 'Safe' })])
  expect(line).toMatchObject({ permission: 'Access', app: 'Safe' })
})

test('permissions of the same name in two apps are two boxes, each with its own edges', () => {
  const lines = linesOf(t, [
    held({ app_id: 'a', app_name: 'Studio', reasons: [{ ...found, kind: 'request' }] }),
    held({ app_id: 'b', app_name: 'Warehouse' }),
  ])
  const drawn = String(accessGraph(t, 'Hana Patel', lines))
  expect(drawn.match(/>Editor<\/text>/g)).toHaveLength(2)
  const ends = [...drawn.matchAll(/class="e (\w+)[^"]*" d="M[\d.]+ ([\d.]+)C[^"]* ([\d.]+)"/g)]
  expect(ends).toHaveLength(4)
  // Requested access comes first; no edge of one box starts or ends where an edge of the other does.
  const rows = (look: string) =>
    ends.filter(([, kind]) => kind === look).flatMap(([, , from, to]) => [from, to])
  expect(rows('busy').filter((y) => rows('bad').includes(y))).toEqual([])
})

test('only access granted by a completed request can be revoked from its line', () => {
  const request = { ...found, kind: 'request', request_id: 'r-1' } as const
  const places = [
    { ...request, request_status: 'COMPLETED' },
    { ...request, request_status: 'REVERTING' },
    { ...found, kind: 'policy', policy_id: 'p-1', request_id: 'r-2', request_status: 'COMPLETED' },
    found,
  ].map((reason) => linesOf(t, [held({ reasons: [reason as AccessReason] })])[0]?.revokeAt)
  expect(places).toEqual(['/console/requests/r-1/revoke', null, null, null])
})
