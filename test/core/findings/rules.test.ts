/** When something is a finding. */
import { describe, expect, test } from 'vitest'
import { FINDING_KINDS } from '../../../runtime/contract/models/finding.ts'
import { findingChanges } from '../../../runtime/core/findings/difference.ts'
import {
  ACCOUNT_RULES,
  type AccessFacts,
  type AccountFacts,
  APP_RULES,
  findingsOfAccount,
  findingsOfApp,
  isLicence,
  isPrivileged,
  type ObservedApp,
} from '../../../runtime/core/findings/rules.ts'

const NOW = new Date('2026-06-01T00:00:00Z')
const ago = (days: number) => new Date(NOW.getTime() - days * 86_400_000)

const APP: ObservedApp = {
  ...{ appId: 'app', tellsUse: true, firstSeen: ago(200), isConnected: true, syncs: true },
  ...{ connectedAt: ago(300), lastComplete: ago(0.5), everyHours: 24 },
  ...{ servedVersion: '1.0.0', newerVersion: null },
}
const HELD: AccessFacts = {
  ...{ entitlementId: 7, label: 'Readers', type: 'GROUP', since: ago(200) },
  ...{ explained: false, requestable: false, breakGlass: false, removedAt: null },
}
const ACCOUNT: AccountFacts = {
  ...{ accountId: 'acc', type: 'USER', status: 'ACTIVE', userId: 'ada', userStatus: 'ACTIVE' },
  ...{ since: ago(200), usedAt: ago(1), removedAt: null, held: [HELD] },
}

const kindsOf = (account: Partial<AccountFacts>, app: Partial<ObservedApp> = {}) =>
  findingsOfAccount({ ...ACCOUNT, ...account }, { ...APP, ...app }, NOW).map(({ kind }) => kind)
const holding = (held: Partial<AccessFacts>, more: Partial<AccountFacts> = {}) => ({
  ...more,
  held: [{ ...HELD, ...held }],
})

describe('an account', () => {
  test.each<[string, string[], Partial<AccountFacts>, Partial<ObservedApp>]>([
    ['of an active person who uses it', [], {}, {}],
    ['without an owner', ['ORPHAN_ACCOUNT'], { userId: null, userStatus: null }, {}],
    ['without an owner, suspended,', [], { userId: null, status: 'SUSPENDED' }, {}],
    [
      'without an owner, with an unknown status,',
      ['ORPHAN_ACCOUNT'],
      { userId: null, status: null },
      {},
    ],
    ['of a person who has left', ['LEAVER_ACCOUNT'], { userStatus: 'INACTIVE' }, {}],
    ['of a suspended person', ['LEAVER_ACCOUNT'], { userStatus: 'SUSPENDED' }, {}],
    [
      'of a person who has left, deprovisioned,',
      [],
      { userStatus: 'INACTIVE', status: 'DEPROVISIONED' },
      {},
    ],
    [
      'of a service without an owner',
      ['SERVICE_ACCOUNT_WITHOUT_OWNER'],
      { type: 'SERVICE', userId: null },
      {},
    ],
    ['of a service with an owner', [], { type: 'SERVICE' }, {}],
    [
      'that reappeared after a review removed it',
      ['REAPPEARED'],
      { removedAt: ago(10), since: ago(5) },
      {},
    ],
    [
      'that reappeared long after a review removed it',
      [],
      { removedAt: ago(91), since: ago(5) },
      {},
    ],
    [
      'that has not disappeared since a review removed it',
      [],
      { removedAt: ago(10), since: ago(20) },
      {},
    ],
    ['with a licence in use', [], holding({ type: 'LICENSE' }), {}],
    [
      'with an unused licence',
      ['UNUSED_LICENCE'],
      holding({ type: 'LICENSE' }, { usedAt: ago(91) }),
      {},
    ],
    [
      'with a licence that was never used',
      ['UNUSED_LICENCE'],
      holding({ type: 'LICENSE' }, { usedAt: null }),
      {},
    ],
    [
      'with a new licence that is not used yet',
      [],
      holding({ type: 'LICENSE' }, { usedAt: null, since: ago(3) }),
      {},
    ],
    [
      'with a licence in an app that reports no use',
      [],
      holding({ type: 'LICENSE' }, { usedAt: null }),
      { tellsUse: false },
    ],
    [
      'with an unused privilege',
      ['DORMANT_PRIVILEGE'],
      holding({ label: 'Org admin' }, { usedAt: ago(91) }),
      {},
    ],
    ['with a privilege in use', [], holding({ label: 'Org admin' }), {}],
    [
      'with unused break-glass access',
      [],
      holding({ label: 'Org admin', type: 'LICENSE', breakGlass: true }, { usedAt: ago(91) }),
      {},
    ],
    [
      'with new requestable access that nobody requested',
      ['UNEXPLAINED_ENTITLEMENT'],
      holding({ requestable: true, since: ago(5) }),
      {},
    ],
    [
      'with new access that was requested',
      [],
      holding({ requestable: true, since: ago(5), explained: true }),
      {},
    ],
    ['with access that existed at the first sync', [], holding({ requestable: true }), {}],
    ['with new access that is not requestable', [], holding({ since: ago(5) }), {}],
    [
      'with access that reappeared after a review removed it',
      ['REAPPEARED'],
      holding({ removedAt: ago(8), since: ago(3) }),
      {},
    ],
  ])('%s has the findings %j', (_, expected, account, app) => {
    expect(kindsOf(account, app)).toEqual(expected)
  })

  test('has a finding for each entitlement, named by both ids', () => {
    const second = { ...HELD, entitlementId: 8, label: 'Owners', removedAt: ago(5), since: ago(1) }
    const first = { ...HELD, removedAt: ago(5), since: ago(1) }
    expect(findingsOfAccount({ ...ACCOUNT, held: [first, second] }, APP, NOW)).toMatchObject([
      { kind: 'REAPPEARED', subject: 'acc 7', entitlementId: 7, details: { label: 'Readers' } },
      { kind: 'REAPPEARED', subject: 'acc 8', entitlementId: 8, userId: 'ada' },
    ])
  })
})

describe('an app', () => {
  test.each<[string, string[], Partial<ObservedApp>]>([
    ['that is synced and current', [], {}],
    ['with a daily sync, last synced four days ago,', ['SYNC_STALE'], { lastComplete: ago(4) }],
    ['with a daily sync, last synced two days ago,', [], { lastComplete: ago(2) }],
    ['with an hourly sync, last synced half a day ago,', [], { everyHours: 1 }],
    ['without a schedule, last synced ten days ago,', [], { everyHours: 0, lastComplete: ago(10) }],
    [
      'without a schedule, last synced 31 days ago,',
      ['SYNC_STALE'],
      { everyHours: 0, lastComplete: ago(31) },
    ],
    [
      'that was connected today and never synced',
      [],
      { lastComplete: null, connectedAt: ago(0.1) },
    ],
    [
      'that was connected last week and never synced',
      ['SYNC_STALE'],
      { lastComplete: null, connectedAt: ago(7) },
    ],
    ['that is not connected', [], { isConnected: false, lastComplete: null, servedVersion: null }],
    ['whose connector lists no accounts', [], { syncs: false, lastComplete: null }],
    ['whose connector has a newer version', ['CONNECTOR_OUTDATED'], { newerVersion: '1.1.0' }],
    ['whose connector is not served', ['CONNECTOR_OUTDATED'], { servedVersion: null }],
  ])('%s has the findings %j', (_, expected, app) => {
    expect(findingsOfApp({ ...APP, ...app }, NOW).map(({ kind }) => kind)).toEqual(expected)
  })
})

test.each([
  ['Administrator', 'ROLE', true],
  ['org_owner', 'ROLE', true],
  ['Super Admin', 'ROLE', true],
  ['root', 'ROLE', true],
  ['member', 'ADMIN_ROLE', true],
  ['Administrative assistants', 'GROUP', false],
  ['Homeowners', 'GROUP', false],
  ['Grassroots', 'GROUP', false],
])('the entitlement %s of the type %s is privileged: %s', (label, type, expected) => {
  expect(isPrivileged({ label, type })).toBe(expected)
})

test.each([
  ['LICENSE', true],
  ['licence', true],
  ['SEAT', true],
  ['copilot_seat', true],
  ['SUBSCRIPTION', true],
  ['GROUP', false],
  ['SEATING', false],
])('the type %s is paid for: %s', (type, expected) => {
  expect(isLicence({ type })).toBe(expected)
})

test('every kind has a rule of its own', () => {
  const ruled = [...Object.keys(ACCOUNT_RULES), ...Object.keys(APP_RULES), 'SEPARATION_BROKEN']
  expect(ruled.sort()).toEqual([...FINDING_KINDS].sort())
})

test('a repeated finding changes nothing, a new one is opened, and a missing one is resolved', () => {
  const found = (kind: 'REAPPEARED' | 'ORPHAN_ACCOUNT', subject: string) => ({ kind, subject })
  const [a, b] = [found('REAPPEARED', 'a'), found('ORPHAN_ACCOUNT', 'a')]
  expect(findingChanges([a, b, a], [])).toEqual({ open: [a, b], resolve: [] })
  expect(findingChanges([a, b], [{ id: '1', ...a }])).toEqual({ open: [b], resolve: [] })
  expect(
    findingChanges(
      [b],
      [
        { id: '1', ...a },
        { id: '2', ...b },
      ],
    ),
  ).toEqual({ open: [], resolve: ['1'] })
})
