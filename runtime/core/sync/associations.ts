/** Writes pages of associations; what a run no longer sees goes in `tombstones.ts`. */
import { type SQL, sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import type { Db } from '../../database/database.ts'
import { insertNew } from './expected.ts'
import {
  BETWEEN,
  EACH_BY_KEY,
  isKeepable,
  isResourceId,
  MAX_ACCOUNT_ID,
  MAX_ID,
  WAS_NEW,
} from './kept.ts'
import type { SyncListing } from './listing.ts'
import type { Walk } from './runs.ts'

type Found = Output<'find_entitlement_associations'>[number]

const isKept = (one: Found): boolean =>
  isKeepable(one.account_id, MAX_ACCOUNT_ID) &&
  isKeepable(one.integration_specific_entitlement_id, MAX_ID) &&
  isResourceId(one.integration_specific_resource_id)

/** What an association's entitlement is known by. */
const heldKey = (one: Found): string =>
  one.integration_specific_resource_id + BETWEEN + one.integration_specific_entitlement_id

export const ASSOCIATIONS: SyncListing<Found> = {
  capability: 'find_entitlement_associations',
  request: () => ({}),
  keyOf: (one) => one.account_id + BETWEEN + heldKey(one),
  async write(tx, walk, found, expected) {
    const kept = found.filter(isKept)
    const { named, count } = namesOf(kept)
    const left_out = found.length - kept.length
    const fresh = await insertNew(tx, expected, (inner) => insert(inner, walk, named))
    const { n, again } = fresh === null ? await merge(tx, walk, named) : { n: fresh, again: 0 }
    // Loose are those of accounts or entitlements that were not listed.
    return { written: n, repeated: again, loose: count - n, left_out }
  },
}

/** Each account and entitlement once, and pairs of their numbers: a page names each of them several times. */
function namesOf(found: readonly Found[]): { named: Named; count: number } {
  const accounts = new Map<string, number>()
  const entitlements = new Map<string, number>()
  const resourceIds: string[] = []
  const externalIds: string[] = []
  const pairs = new Set<number>()
  for (const one of found) {
    const account = numberOf(accounts, one.account_id)
    const known = entitlements.size
    const entitlement = numberOf(entitlements, heldKey(one))
    if (entitlements.size > known) {
      resourceIds.push(one.integration_specific_resource_id)
      externalIds.push(one.integration_specific_entitlement_id)
    }
    pairs.add(account * found.length + entitlement)
  }
  const ofAccounts: number[] = []
  const ofEntitlements: number[] = []
  for (const pair of pairs) {
    ofAccounts.push(Math.floor(pair / found.length) + 1)
    ofEntitlements.push((pair % found.length) + 1)
  }
  return {
    named: {
      ...{ accounts: [...accounts.keys()], resourceIds, externalIds },
      ...{ ofAccounts: listed(ofAccounts), ofEntitlements: listed(ofEntitlements) },
    },
    count: pairs.size,
  }
}

type Named = {
  accounts: string[]
  resourceIds: string[]
  externalIds: string[]
  /** Of each pair, the account's place and the entitlement's, counted from 1; as PostgreSQL reads lists. */
  ofAccounts: string
  ofEntitlements: string
}

function numberOf(numbers: Map<string, number>, key: string): number {
  const known = numbers.get(key)
  if (known !== undefined) return known
  numbers.set(key, numbers.size)
  return numbers.size - 1
}

const listed = (numbers: readonly number[]): string => `{${numbers.join(',')}}`

/** The associations `joined` whose account and entitlement are there. */
const joined = ({ app }: Walk, named: Named): SQL => sql`
  account as (
    select named.n, found.id
    from unnest(${sql.param(named.accounts)}::text[]) with ordinality as named(external, n)
    cross join lateral (select id from accounts where accounts.app_id = ${app.id}
      and accounts.unique_identifier = named.external ${EACH_BY_KEY}) found
  ), entitlement as (
    select named.n, found.id
    from unnest(${sql.param(named.resourceIds)}::text[], ${sql.param(named.externalIds)}::text[])
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

const rowsOf = ({ app, run }: Walk): SQL => sql`
  insert into associations (app_id, account_id, entitlement_id, seen_run)
  select ${app.id}, account_id, entitlement_id, ${run.id} from joined`

/** Answers how many were inserted. */
async function insert(tx: Db, walk: Walk, named: Named): Promise<number> {
  const { rowCount } = await tx.execute(sql`with ${joined(walk, named)} ${rowsOf(walk)}`)
  return rowCount ?? 0
}

/** Answers how many are there now, and how many of them the run had written before. */
async function merge(tx: Db, walk: Walk, named: Named): Promise<{ n: number; again: number }> {
  const { app, run } = walk
  const { rows } = await tx.execute<{ n: string; again: string }>(sql`
    with ${joined(walk, named)}, written as (
      ${rowsOf(walk)}
      on conflict (app_id, account_id, entitlement_id) do update set seen_run = excluded.seen_run
      returning ${WAS_NEW} as was_new
    ), counted as (
      select count(*) as n, count(*) filter (where was_new) as fresh from written
    )
    select n, case fresh when n then 0 else (
      select count(*) from joined cross join lateral (
        select seen_run from associations where associations.app_id = ${app.id}
          and associations.account_id = joined.account_id
          and associations.entitlement_id = joined.entitlement_id ${EACH_BY_KEY}) old
      where old.seen_run = ${run.id}) end as again
    from counted`)
  return { n: Number(rows[0]?.n ?? 0), again: Number(rows[0]?.again ?? 0) }
}
