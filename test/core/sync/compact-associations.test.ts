/** The accounts and entitlements that pages of associations name. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { tableOfRows } from '../../../runtime/contract/schema/table.ts'
import { type Found, namedPage, namesOf } from '../../../runtime/core/sync/compact-associations.ts'
import { createKnownAccounts } from '../../../runtime/core/sync/known-accounts.ts'
import { idBytes } from './id-bytes.ts'
import { association } from './upstream.ts'

const NAMES = [
  'account_id',
  'integration_specific_entitlement_id',
  'integration_specific_resource_id',
] as const

/** The names in pages of pairs, each `account:entitlement`, with these accounts known. */
function named(pages: readonly string[][], knownIds: readonly string[], isNew = true) {
  const known = createKnownAccounts()
  known.add(idBytes(knownIds.map(() => randomUUID())), knownIds)
  const arrived = pages.map((pairs) => {
    const rows = pairs.map((pair) => association(...(pair.split(':') as [string, string])))
    return namedPage(known, tableOfRows<Found>(rows as Found[], NAMES))
  })
  const { rows, ...more } = namesOf(known, arrived, isNew)
  return { ...rows, ...more }
}

test('known accounts are given by their places, others by their ids', () => {
  const { known, accounts, externalIds, ofAccounts, ofEntitlements, count } = named(
    [['ada:g1', 'zoe:g1', 'bob:g1'], ['ada:g2']],
    ['ada', 'bob'],
  )
  expect(known).toEqual({ accounts: [0, 1, 0], entitlements: [1, 1, 2] })
  expect([accounts, externalIds]).toEqual(['{"zoe"}', '{"g1","g2"}'])
  expect([ofAccounts, ofEntitlements, count]).toEqual(['{1}', '{1}', 4])
})

test('if rows may exist already, known accounts are given by their ids as well', () => {
  const { known, accounts, ofAccounts, ofEntitlements } = named(
    [['ada:g1', 'zoe:g1', 'bob:g2', 'ada:g2']],
    ['bob', 'ada'],
    false,
  )
  expect(known.accounts).toEqual([])
  expect(accounts).toBe('{"ada","zoe","bob"}')
  expect([ofAccounts, ofEntitlements]).toEqual(['{1,2,3,1}', '{1,1,2,2}'])
})

test('a repeated pair counts once, even if other entitlements come between', () => {
  const known = ['ada', 'bob', 'eve']
  const of = (...pages: string[][]) =>
    [known, []].map((ids) => {
      const { count, repeats, left_out } = named(pages, ids)
      return { count, repeats, left_out }
    })
  const once = { count: 3, repeats: false, left_out: 0 }
  expect(of(['ada:g1', 'bob:g1', 'ada:g2'])).toEqual([once, once])
  const again = { ...once, repeats: true }
  expect(of(['ada:g1', 'bob:g1', 'ada:g1', 'ada:g2'])).toEqual([again, again])
  expect(of(['ada:g1', 'ada:g2', 'ada:g1', 'bob:g1', 'bob:g1'])).toEqual([again, again])
  expect(of(['ada:g1'], ['ada:g1', 'ada:g2'], ['eve:g1', 'ada:g2'])).toEqual([again, again])
  // Entitlements alternate and recur; only the pair that recurs is a repeat.
  expect(of(['ada:g1', 'ada:g2'], ['bob:g1', 'ada:g1', 'ada:g1'])).toEqual([again, again])
})

test('pairs that cannot be stored are skipped and counted', () => {
  const { known, count, left_out, repeats } = named(
    [['ada:', ':g1', 'ada:g1', 'ada:g\u0000']],
    ['ada'],
  )
  expect([known.accounts, count, left_out, repeats]).toEqual([[0], 1, 3, false])
})
