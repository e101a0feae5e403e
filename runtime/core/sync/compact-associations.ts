/**
 * Pages of associations in compact form: each account and each entitlement once, and pairs of their places.
 */
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { columnOf, type TableOf } from '../../contract/schema/table.ts'
import { isKeepable, MAX_ACCOUNT_ID } from '../kernel/kept-text.ts'
import { arrayText } from './columns.ts'
import type { KnownAccounts } from './known-accounts.ts'
import type { PreparedRows } from './listing.ts'
import { isResourceId, MAX_ID } from './storable-texts.ts'

export type Found = Output<'find_entitlement_associations'>[number]

/** A page in the buffer. The texts that name known accounts are dropped. */
export type NamedPage = {
  /**
   * For each row, the place of its account among the known ones, or `~place` in `others` for an unknown
   * account.
   */
  accounts: Int32Array
  others: readonly string[]
  /**
   * Entitlements, each with the number of the row after its last: most systems list a group's members
   * together.
   */
  entitlements: readonly { resource: string; external: string; end: number }[]
}

/** Pairs of places: one of an account, one of an entitlement. */
type Pairs = { accounts: number[]; entitlements: number[] }

/** Accounts, entitlements and pairs of some pages. Lists are PostgreSQL array literals. */
export type NamedPairs = {
  /** Pairs of known accounts, by their place among those. Places of entitlements count from 1. */
  known: Pairs
  /** Accounts to look up. */
  accounts: string
  /** Ids of each entitlement. */
  resourceIds: string
  externalIds: string
  /** For each pair whose account must be looked up: its place and the entitlement's, counted from 1. */
  ofAccounts: string
  ofEntitlements: string
  /** Total number of pairs. */
  count: number
}

/** Converts a page of associations to its buffered form. */
export function namedPage(known: KnownAccounts, page: TableOf<Found>): NamedPage {
  const resources = columnOf(page, 'integration_specific_resource_id')
  const externals = columnOf(page, 'integration_specific_entitlement_id')
  const entitlements: { resource: string; external: string; end: number }[] = []
  for (let from = 0; from < page.count; ) {
    const end = endOfSame(resources, externals, from)
    entitlements.push({ resource: resources[from] ?? '', external: externals[from] ?? '', end })
    from = end
  }
  return { ...placesOf(known, columnOf(page, 'account_id')), entitlements }
}

// Each loop over rows is a separate function. In a longer function V8 falls back to the interpreter whenever
// a rare branch is taken, and closures created per batch are compiled once per batch.

/** Returns the row after the run of rows with the same resource and entitlement. */
function endOfSame(resources: readonly string[], externals: readonly string[], from: number) {
  let end = from + 1
  while (
    end < resources.length &&
    resources[end] === resources[from] &&
    externals[end] === externals[from]
  )
    end += 1
  return end
}

function placesOf(known: KnownAccounts, ids: readonly string[]) {
  const accounts = new Int32Array(ids.length)
  const others: string[] = []
  fillPlaces(known, ids, accounts, others)
  return { accounts, others }
}

function fillPlaces(
  known: KnownAccounts,
  ids: readonly string[],
  accounts: Int32Array,
  others: string[],
): void {
  for (let n = 0; n < ids.length; n += 1) {
    const id = ids[n] ?? ''
    accounts[n] = known.placeOf(id) ?? ~(others.push(id) - 1)
  }
}

/** Place of an id that cannot be stored. */
const NOWHERE = -1

type Places = Map<string, number>

/** Accounts and pairs collected from pages. */
type Batch = {
  known: KnownAccounts
  isNew: boolean
  ofKnown: EachPair
  ofOthers: EachPair
  /** Accounts to look up, and their places, counted from 1. */
  accounts: string[]
  accountPlaces: Places
}

/**
 * Returns the accounts, entitlements and pairs to write for some pages.
 *
 * @param isNew whether rows of known accounts are written with their known ids; otherwise all accounts are
 * looked up
 */
export function namesOf(
  known: KnownAccounts,
  pages: readonly NamedPage[],
  isNew: boolean,
): PreparedRows<NamedPairs> {
  const found = pages.reduce((sum, page) => sum + page.accounts.length, 0)
  const resourceIds: string[] = []
  const externalIds: string[] = []
  const entitlementPlaces = new Map<string, Places>()
  const batch: Batch = {
    ...{ known, isNew, accounts: [], accountPlaces: new Map() },
    ...{ ofKnown: noPairs(isNew ? known.size() : 0), ofOthers: noPairs(found + 1) },
  }
  let left_out = 0

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

  for (const page of pages) {
    let from = 0
    for (const { resource, external, end } of page.entitlements) {
      const entitlement = entitlementAt(resource, external)
      left_out +=
        entitlement === NOWHERE ? end - from : addRows(batch, page, { from, end }, entitlement)
      from = end
    }
  }
  const { ofKnown, ofOthers, accounts } = batch
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

/** Adds the accounts of one entitlement, and returns how many are left out. */
function addRows(
  batch: Batch,
  page: NamedPage,
  { from, end }: { from: number; end: number },
  entitlement: number,
): number {
  let left_out = 0
  for (let n = from; n < end; n += 1) {
    const place = page.accounts[n] ?? 0
    if (place >= 0 && batch.isNew) addPair(batch.ofKnown, place, entitlement)
    else {
      const id = place < 0 ? page.others[~place] : batch.known.textAt(place)
      const account = accountAt(batch, id ?? '')
      if (account === NOWHERE) left_out += 1
      else addPair(batch.ofOthers, account, entitlement)
    }
  }
  return left_out
}

function accountAt({ accounts, accountPlaces }: Batch, id: string): number {
  const there = accountPlaces.get(id)
  if (there !== undefined) return there
  const place = isKeepable(id, MAX_ACCOUNT_ID) ? accounts.push(id) : NOWHERE
  accountPlaces.set(id, place)
  return place
}

/**
 * Distinct pairs. While entitlements arrive in ascending order, the last entitlement of an account shows
 * whether its pair exists. Once an earlier entitlement returns, a set does, which is many times slower.
 */
type EachPair = {
  pairs: Pairs
  /** Exclusive upper bound of the places of accounts. */
  size: number
  lastOf: Int32Array
  greatest: number
  all: Set<number> | null
}

const noPairs = (size: number): EachPair => ({
  ...{ pairs: { accounts: [], entitlements: [] }, size },
  ...{ lastOf: new Int32Array(size), greatest: 0, all: null },
})

function addPair(each: EachPair, account: number, entitlement: number): void {
  const { pairs, size, lastOf } = each
  if (entitlement < each.greatest && each.all === null) each.all = keysOf(each)
  const key = entitlement * size + account
  if (each.all === null ? lastOf[account] === entitlement : each.all.has(key)) return
  each.greatest = Math.max(each.greatest, entitlement)
  lastOf[account] = entitlement
  each.all?.add(key)
  pairs.accounts.push(account)
  pairs.entitlements.push(entitlement)
}

const keysOf = ({ pairs, size }: EachPair): Set<number> =>
  new Set(pairs.accounts.map((account, n) => (pairs.entitlements[n] ?? 0) * size + account))

const listed = (numbers: readonly number[]): string => `{${numbers.join(',')}}`
