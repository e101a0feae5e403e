/** Writes pages of associations; what a run no longer sees goes in `tombstones.ts`. */
import { type SQL, sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import type { Db } from '../../database/database.ts'
import { arrayText } from './columns.ts'
import { EACH_BY_KEY, isKeepable, isResourceId, MAX_ACCOUNT_ID, MAX_ID } from './kept.ts'
import { asListed, type PreparedRows, type SyncListing } from './listing.ts'
import type { Walk } from './runs.ts'

type Found = Output<'find_entitlement_associations'>[number]

export const ASSOCIATIONS: SyncListing<Found, Named> = {
  capability: 'find_entitlement_associations',
  request: () => ({}),
  arrive: asListed,
  prepare: (_walk, found) => namesOf(found),
  async write(tx, walk, named, { isNew }) {
    const { n, again } = await (isNew ? insert : merge)(tx, walk, named)
    // Loose are those of accounts or entitlements that were not listed.
    return { written: n, repeated: again, loose: named.count - n }
  },
}

/** Lists as PostgreSQL reads them. */
type Named = {
  accounts: string
  /** Of each entitlement. */
  resourceIds: string
  externalIds: string
  /** Of each pair, the account's place and the entitlement's, counted from 1. */
  ofAccounts: string
  ofEntitlements: string
  /** How many pairs there are. */
  count: number
}

/** The place of what cannot be kept. */
const NOWHERE = 0

/** Each account and entitlement once, and pairs of their places: a page names each of them several times. */
function namesOf(found: readonly Found[]): PreparedRows<Named> {
  const accounts: string[] = []
  const resourceIds: string[] = []
  const externalIds: string[] = []
  const accountPlaces: Places = new Map()
  const entitlementPlaces = new Map<string, Places>()
  const pairs = new Set<number>()
  const ofAccounts: number[] = []
  const ofEntitlements: number[] = []
  const base = found.length + 1
  let left_out = 0
  for (const one of found) {
    const { account_id, integration_specific_resource_id: resource } = one
    const external = one.integration_specific_entitlement_id
    let account = accountPlaces.get(account_id)
    if (account === undefined) {
      account = isKeepable(account_id, MAX_ACCOUNT_ID) ? accounts.push(account_id) : NOWHERE
      accountPlaces.set(account_id, account)
    }
    let places = entitlementPlaces.get(resource)
    if (places === undefined) {
      places = new Map()
      entitlementPlaces.set(resource, places)
    }
    let entitlement = places.get(external)
    if (entitlement === undefined) {
      const isKept = isResourceId(resource) && isKeepable(external, MAX_ID)
      if (isKept) resourceIds.push(resource)
      entitlement = isKept ? externalIds.push(external) : NOWHERE
      places.set(external, entitlement)
    }
    if (account === NOWHERE || entitlement === NOWHERE) {
      left_out += 1
      continue
    }
    const before = pairs.size
    if (pairs.add(account * base + entitlement).size === before) continue
    ofAccounts.push(account)
    ofEntitlements.push(entitlement)
  }
  const named = {
    accounts: arrayText(accounts),
    resourceIds: arrayText(resourceIds),
    externalIds: arrayText(externalIds),
    ofAccounts: listed(ofAccounts),
    ofEntitlements: listed(ofEntitlements),
  }
  return {
    rows: { ...named, count: pairs.size },
    left_out,
    repeats: pairs.size < found.length - left_out,
  }
}

type Places = Map<string, number>

const listed = (numbers: readonly number[]): string => `{${numbers.join(',')}}`

/** The associations `joined` whose account and entitlement are there. */
const joined = ({ app }: Walk, named: Named): SQL => sql`
  account as (
    select named.n, found.id
    from unnest(${named.accounts}::text[]) with ordinality as named(external, n)
    cross join lateral (select id from accounts where accounts.app_id = ${app.id}
      and accounts.unique_identifier = named.external ${EACH_BY_KEY}) found
  ), entitlement as (
    select named.n, found.id
    from unnest(${named.resourceIds}::text[], ${named.externalIds}::text[])
      with ordinality as named(resource, external, n)
    cross join lateral (select id from entitlements where entitlements.app_id = ${app.id}
      and md5(entitlements.resource_id || chr(1) || entitlements.external_id)
        = md5(named.resource || chr(1) || named.external) ${EACH_BY_KEY}) found
  ), joined as (
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
  const { rowCount } = await tx.execute(sql`with ${joined(walk, named)} ${rowsOf(walk)}`)
  return { n: rowCount ?? 0, again: 0 }
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
