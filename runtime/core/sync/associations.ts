/** Writes pages of associations; what a run no longer sees goes in `tombstones.ts`. */
import { type SQL, sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { columnOf, type TableOf } from '../../contract/schema/table.ts'
import { copyIn } from '../../database/copy-in.ts'
import type { Db } from '../../database/database.ts'
import { arrayText } from './columns.ts'
import { associationRows, bytesOfRows, COPY_ASSOCIATIONS } from './copied.ts'
import { EACH_BY_KEY, isKeepable, isResourceId, MAX_ACCOUNT_ID, MAX_ID } from './kept.ts'
import type { KnownAccounts } from './known.ts'
import type { PreparedRows, SyncListing } from './listing.ts'
import type { Walk } from './runs.ts'

type Found = Output<'find_entitlement_associations'>[number]

export const ASSOCIATIONS: SyncListing<Found, Named, TableOf<Found>> = {
  capability: 'find_entitlement_associations',
  request: () => ({}),
  arrive: (_walk, found) => found,
  prepare: (walk, pages, isNew) => namesOf(isNew ? walk.known : null, pages),
  async write(tx, walk, named, { isNew }) {
    const { n, again } = await (isNew ? insert : merge)(tx, walk, named)
    // Loose are those of accounts or entitlements that were not listed.
    return { written: n, repeated: again, loose: named.count - n }
  },
}

/** Pairs of places, of an account and an entitlement. */
type Pairs = { accounts: number[]; entitlements: number[] }

/** What a page names; lists as PostgreSQL reads them. */
type Named = {
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

/** The place of what cannot be kept. */
const NOWHERE = -1

type Places = Map<string, number>

/** Each account to look up and each entitlement once, and pairs of places: a page names each of them several times. */
function namesOf(
  known: KnownAccounts | null,
  pages: readonly TableOf<Found>[],
): PreparedRows<Named> {
  const found = pages.reduce((sum, { count }) => sum + count, 0)
  const accounts: string[] = []
  const resourceIds: string[] = []
  const externalIds: string[] = []
  const accountPlaces: Places = new Map()
  const entitlementPlaces = new Map<string, Places>()
  const pairs = new Set<number>()
  const ofKnown: Pairs = { accounts: [], entitlements: [] }
  const ofOthers: Pairs = { accounts: [], entitlements: [] }
  /** Known accounts have places below this number, accounts to look up have places above it. */
  const size = known?.size() ?? 0
  const base = size + found + 1
  let left_out = 0

  function accountAt(id: string): number {
    const there = known?.placeOf(id) ?? accountPlaces.get(id)
    if (there !== undefined) return there
    const place = isKeepable(id, MAX_ACCOUNT_ID) ? size + accounts.push(id) : NOWHERE
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

  function add(account: number, entitlement: number): void {
    if (account === NOWHERE || entitlement === NOWHERE) {
      left_out += 1
      return
    }
    const before = pairs.size
    if (pairs.add(entitlement * base + account).size === before) return
    const pair = account < size ? ofKnown : ofOthers
    pair.accounts.push(account < size ? account : account - size)
    pair.entitlements.push(entitlement)
  }

  for (const page of pages) {
    const resources = columnOf(page, 'integration_specific_resource_id')
    const externals = columnOf(page, 'integration_specific_entitlement_id')
    const ids = columnOf(page, 'account_id')
    let entitlement = NOWHERE
    for (let n = 0; n < ids.length; n += 1) {
      // Most systems list the members of one group behind each other.
      const isSame = n > 0 && resources[n] === resources[n - 1] && externals[n] === externals[n - 1]
      if (!isSame) entitlement = entitlementAt(resources[n] ?? '', externals[n] ?? '')
      add(accountAt(ids[n] ?? ''), entitlement)
    }
  }
  const named = {
    known: ofKnown,
    accounts: arrayText(accounts),
    resourceIds: arrayText(resourceIds),
    externalIds: arrayText(externalIds),
    ofAccounts: listed(ofOthers.accounts),
    ofEntitlements: listed(ofOthers.entitlements),
  }
  return {
    rows: { ...named, count: pairs.size },
    left_out,
    repeats: pairs.size < found - left_out,
  }
}

const listed = (numbers: readonly number[]): string => `{${numbers.join(',')}}`

/** The entitlements that are there. */
const entitlementsOf = (app: Walk['app'], named: Named): SQL => sql`
  entitlement as (
    select named.n, found.id
    from unnest(${named.resourceIds}::text[], ${named.externalIds}::text[])
      with ordinality as named(resource, external, n)
    cross join lateral (select id from entitlements where entitlements.app_id = ${app.id}
      and md5(entitlements.resource_id || chr(1) || entitlements.external_id)
        = md5(named.resource || chr(1) || named.external) ${EACH_BY_KEY}) found
  )`

/** The associations `joined` whose account and entitlement are there. */
const joined = ({ app }: Walk, named: Named): SQL => sql`
  account as (
    select named.n, found.id
    from unnest(${named.accounts}::text[]) with ordinality as named(external, n)
    cross join lateral (select id from accounts where accounts.app_id = ${app.id}
      and accounts.unique_identifier = named.external ${EACH_BY_KEY}) found
  ), ${entitlementsOf(app, named)}, joined as (
    select account.id as account_id, entitlement.id as entitlement_id
    from unnest(${named.ofAccounts}::bigint[], ${named.ofEntitlements}::bigint[]) as pair(a, e)
    join account on account.n = pair.a
    join entitlement on entitlement.n = pair.e
  )`

/** In the order of their key: rows beside each other go into the same pages of its index. */
const rowsOf = ({ app, run }: Walk): SQL => sql`
  insert into associations (app_id, account_id, entitlement_id, seen_run, first_run)
  select ${app.id}, account_id, entitlement_id, ${run.id}, ${run.id} from joined order by account_id, entitlement_id`

type Associated = { n: number; again: number }

/** Answers how many were inserted. */
async function insert(tx: Db, walk: Walk, named: Named): Promise<Associated> {
  const known = named.known.accounts.length
  const copied = known > 0 ? await copy(tx, walk, named) : 0
  if (known === named.count) return { n: copied, again: 0 }
  const { rowCount } = await tx.execute(sql`with ${joined(walk, named)} ${rowsOf(walk)}`)
  return { n: copied + (rowCount ?? 0), again: 0 }
}

/** Writes pairs of accounts that are known; answers how many. */
async function copy(tx: Db, { app, run, known }: Walk, named: Named): Promise<number> {
  const { rows: found } = await tx.execute<{ n: string; id: string }>(sql`
    with ${entitlementsOf(app, named)} select n, id from entitlement`)
  const ids = new Map(found.map(({ n, id }) => [Number(n), Number(id)]))
  const of = { appId: app.id, runId: run.id, known }
  return known.withRoom(bytesOfRows(named.known.accounts.length), async (room) => {
    const { rows, count } = associationRows(of, named.known, ids, room)
    await copyIn(tx, COPY_ASSOCIATIONS, rows)
    return count
  })
}

/** Answers how many are there now, and how many of them the run had written before: those are left alone. */
async function merge(tx: Db, walk: Walk, named: Named): Promise<Associated> {
  const { rows } = await tx.execute<{ n: string; written: string }>(sql`
    with ${joined(walk, named)}, written as (
      ${rowsOf(walk)}
      on conflict (app_id, account_id, entitlement_id) do update set seen_run = excluded.seen_run
        where associations.seen_run <> excluded.seen_run
      returning 1
    )
    select (select count(*) from joined) as n, (select count(*) from written) as written`)
  const n = Number(rows[0]?.n ?? 0)
  return { n, again: n - Number(rows[0]?.written ?? 0) }
}
