/** What pages of associations name: each account and each entitlement once, and pairs of their places. */
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { columnOf, type TableOf } from '../../contract/schema/table.ts'
import { arrayText } from './columns.ts'
import { isKeepable, isResourceId, MAX_ACCOUNT_ID, MAX_ID } from './kept.ts'
import type { KnownAccounts } from './known.ts'
import type { PreparedRows } from './listing.ts'

export type Found = Output<'find_entitlement_associations'>[number]

/** A page as it waits to be written: what names accounts that are known is let go. */
export type NamedPage = {
  /** Of each row its account's place among those known; of an account that is not, `~place` in `others`. */
  accounts: Int32Array
  others: readonly string[]
  /** Entitlements, each with the number of the row behind its last one: most systems list a group's members together. */
  entitlements: readonly { resource: string; external: string; end: number }[]
}

/** Pairs of places, of an account and an entitlement. */
type Pairs = { accounts: number[]; entitlements: number[] }

/** What some pages name; lists as PostgreSQL reads them. */
export type NamedPairs = {
  /** Pairs whose account is known, by its place there; the entitlement's is counted from 1. */
  known: Pairs
  /** Accounts to look up. */
  accounts: string
  /** Of each entitlement. */
  resourceIds: string
  externalIds: string
  /** Of each pair whose account is to be looked up, its place and the entitlement's, counted from 1. */
  ofAccounts: string
  ofEntitlements: string
  /** How many pairs there are in all. */
  count: number
}

export function namedPage(known: KnownAccounts, page: TableOf<Found>): NamedPage {
  const resources = columnOf(page, 'integration_specific_resource_id')
  const externals = columnOf(page, 'integration_specific_entitlement_id')
  const ids = columnOf(page, 'account_id')
  const accounts = new Int32Array(page.count)
  const others: string[] = []
  const entitlements: { resource: string; external: string; end: number }[] = []
  for (let n = 0; n < page.count; n += 1) {
    const id = ids[n] ?? ''
    accounts[n] = known.placeOf(id) ?? ~(others.push(id) - 1)
    const resource = resources[n] ?? ''
    const external = externals[n] ?? ''
    const last = entitlements.at(-1)
    if (last?.resource === resource && last.external === external) last.end = n + 1
    else entitlements.push({ resource, external, end: n + 1 })
  }
  return { accounts, others, entitlements }
}

/** The place of what cannot be kept. */
const NOWHERE = -1

type Places = Map<string, number>

/**
 * What is to be written of some pages.
 *
 * @param isNew whether rows of known accounts are written by the ids that are known; else they are looked up as all others
 */
export function namesOf(
  known: KnownAccounts,
  pages: readonly NamedPage[],
  isNew: boolean,
): PreparedRows<NamedPairs> {
  const found = pages.reduce((sum, page) => sum + page.accounts.length, 0)
  const accounts: string[] = []
  const resourceIds: string[] = []
  const externalIds: string[] = []
  const accountPlaces: Places = new Map()
  const entitlementPlaces = new Map<string, Places>()
  const ofKnown = createPairs(isNew ? known.size() : 0)
  const ofOthers = createPairs(found + 1)
  let left_out = 0

  function accountAt(id: string): number {
    const there = accountPlaces.get(id)
    if (there !== undefined) return there
    const place = isKeepable(id, MAX_ACCOUNT_ID) ? accounts.push(id) : NOWHERE
    accountPlaces.set(id, place)
    return place
  }

  function entitlementAt(resource: string, external: string): number {
    const places = entitlementPlaces.getOrInsertComputed(resource, () => new Map())
    const there = places.get(external)
    if (there !== undefined) return there
    const isKept = isResourceId(resource) && isKeepable(external, MAX_ID)
    if (isKept) resourceIds.push(resource)
    const place = isKept ? externalIds.push(external) : NOWHERE
    places.set(external, place)
    return place
  }

  function add(pairs: EachPair, account: number, entitlement: number): void {
    if (account === NOWHERE || entitlement === NOWHERE) left_out += 1
    else pairs.add(account, entitlement)
  }

  for (const page of pages) {
    let n = 0
    for (const { resource, external, end } of page.entitlements) {
      const entitlement = entitlementAt(resource, external)
      for (; n < end; n += 1) {
        const place = page.accounts[n] ?? 0
        if (place >= 0 && isNew) {
          add(ofKnown, place, entitlement)
          continue
        }
        const id = place < 0 ? page.others[~place] : known.textAt(place)
        add(ofOthers, accountAt(id ?? ''), entitlement)
      }
    }
  }
  const count = ofKnown.pairs.accounts.length + ofOthers.pairs.accounts.length
  const named = {
    known: ofKnown.pairs,
    accounts: arrayText(accounts),
    resourceIds: arrayText(resourceIds),
    externalIds: arrayText(externalIds),
    ofAccounts: listed(ofOthers.pairs.accounts),
    ofEntitlements: listed(ofOthers.pairs.entitlements),
  }
  return { rows: { ...named, count }, left_out, repeats: count < found - left_out }
}

type EachPair = { pairs: Pairs; add(account: number, entitlement: number): void }

/**
 * Pairs, each once. While entitlements come one behind the other, the last one of an account says whether its pair is
 * there; once one comes back, a set does, which takes many times as long.
 *
 * @param size places of accounts are below it
 */
function createPairs(size: number): EachPair {
  const pairs: Pairs = { accounts: [], entitlements: [] }
  const lastOf = new Int32Array(size)
  let greatest = 0
  let all: Set<number> | null = null

  const keyOf = (account: number, entitlement: number): number => entitlement * size + account

  function isThere(account: number, entitlement: number): boolean {
    if (entitlement < greatest && all === null)
      all = new Set(pairs.accounts.map((one, n) => keyOf(one, pairs.entitlements[n] ?? 0)))
    if (all !== null) return all.has(keyOf(account, entitlement))
    return lastOf[account] === entitlement
  }

  return {
    pairs,
    add(account, entitlement) {
      if (isThere(account, entitlement)) return
      greatest = Math.max(greatest, entitlement)
      lastOf[account] = entitlement
      all?.add(keyOf(account, entitlement))
      pairs.accounts.push(account)
      pairs.entitlements.push(entitlement)
    },
  }
}

const listed = (numbers: readonly number[]): string => `{${numbers.join(',')}}`
