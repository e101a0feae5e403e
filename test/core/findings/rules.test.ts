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
  test.each<[string, Partial<AccountFacts>, Partial<ObservedApp>, string[]]>([
    ['of a person who is there and uses it', {}, {}, []],
    ['without an owner', { userId: null, userStatus: null }, {}, ['ORPHAN_ACCOUNT']],
    ['without an owner, and suspended', { userId: null, status: 'SUSPENDED' }, {}, []],
    ['of unknown status, without an owner', { userId: null, status: null }, {}, ['ORPHAN_ACCOUNT']],
    ['of who has left', { userStatus: 'INACTIVE' }, {}, ['LEAVER_ACCOUNT']],
    ['of who is suspended', { userStatus: 'SUSPENDED' }, {}, ['LEAVER_ACCOUNT']],
    ['of who has left, closed', { userStatus: 'INACTIVE', status: 'DEPROVISIONED' }, {}, []],
    [
      'of a service, without an owner',
      { type: 'SERVICE', userId: null },
      {},
      ['SERVICE_ACCOUNT_WITHOUT_OWNER'],
    ],
    ['for a service, of a person', { type: 'SERVICE' }, {}, []],
    [
      'that a review removed, there again',
      { removedAt: ago(10), since: ago(5) },
      {},
      ['REAPPEARED'],
    ],
    ['that a review removed long ago', { removedAt: ago(91), since: ago(5) }, {}, []],
    ['that was there before its removal', { removedAt: ago(10), since: ago(20) }, {}, []],
    ['with a licence in use', holding({ type: 'LICENSE' }), {}, []],
    [
      'with a licence, not used',
      holding({ type: 'LICENSE' }, { usedAt: ago(91) }),
      {},
      ['UNUSED_LICENCE'],
    ],
    [
      'with a licence, never used',
      holding({ type: 'LICENSE' }, { usedAt: null }),
      {},
      ['UNUSED_LICENCE'],
    ],
    [
      'with a licence, new and not used yet',
      holding({ type: 'LICENSE' }, { usedAt: null, since: ago(3) }),
      {},
      [],
    ],
    [
      'with a licence in an app that does not say when it is used',
      holding({ type: 'LICENSE' }, { usedAt: null }),
      { tellsUse: false },
      [],
    ],
    [
      'with a privilege, not used',
      holding({ label: 'Org admin' }, { usedAt: ago(91) }),
      {},
      ['DORMANT_PRIVILEGE'],
    ],
    ['with a privilege in use', holding({ label: 'Org admin' }), {}, []],
    [
      'with a privilege for emergencies, not used',
      holding({ label: 'Org admin', type: 'LICENSE', breakGlass: true }, { usedAt: ago(91) }),
      {},
      [],
    ],
    [
      'with new access that people ask for',
      holding({ requestable: true, since: ago(5) }),
      {},
      ['UNEXPLAINED_ENTITLEMENT'],
    ],
    [
      'with new access that was asked for',
      holding({ requestable: true, since: ago(5), explained: true }),
      {},
      [],
    ],
    ['with access that was there from the first', holding({ requestable: true }), {}, []],
    ['with new access that is not requestable', holding({ since: ago(5) }), {}, []],
    [
      'with access that a review removed',
      holding({ removedAt: ago(8), since: ago(3) }),
      {},
      ['REAPPEARED'],
    ],
  ])('%s', (_, account, app, expected) => {
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
  test.each<[string, Partial<ObservedApp>, string[]]>([
    ['that is synced and current', {}, []],
    ['synced four days ago, of every day', { lastComplete: ago(4) }, ['SYNC_STALE']],
    ['synced two days ago, of every day', { lastComplete: ago(2) }, []],
    ['synced half a day ago, of every hour', { everyHours: 1 }, []],
    ['synced by hand ten days ago', { everyHours: 0, lastComplete: ago(10) }, []],
    ['synced by hand 31 days ago', { everyHours: 0, lastComplete: ago(31) }, ['SYNC_STALE']],
    ['never synced, connected today', { lastComplete: null, connectedAt: ago(0.1) }, []],
    [
      'never synced, connected last week',
      { lastComplete: null, connectedAt: ago(7) },
      ['SYNC_STALE'],
    ],
    ['that is not connected', { isConnected: false, lastComplete: null, servedVersion: null }, []],
    ['whose connector lists no accounts', { syncs: false, lastComplete: null }, []],
    ['with a newer version', { newerVersion: '1.1.0' }, ['CONNECTOR_OUTDATED']],
    ['whose connector is not served', { servedVersion: null }, ['CONNECTOR_OUTDATED']],
  ])('%s', (_, app, expected) => {
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
])('%s of the type %s: privileged is %s', (label, type, expected) => {
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
