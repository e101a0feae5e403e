/** Writes pages of associations. Those that a run no longer sees are deleted in `remove-missing.ts`. */
import { type SQL, sql } from 'drizzle-orm'
import { copyIn } from '../../database/copy-in.ts'
import type { Db } from '../../database/database.ts'
import { KEEP_INDEX_LOOKUP } from '../../database/planner-hints.ts'
import {
  type Found,
  type NamedPage,
  type NamedPairs,
  namedPage,
  namesOf,
} from './compact-associations.ts'
import { associationRows, bytesOfRows, COPY_ASSOCIATIONS } from './copied-associations.ts'
import type { SyncListing } from './listing.ts'
import type { Walk } from './runs.ts'

export const ASSOCIATIONS: SyncListing<Found, NamedPairs, NamedPage> = {
  capability: 'find_entitlement_associations',
  request: () => ({}),
  arrive: ({ known }, found) => namedPage(known, found),
  prepare: ({ known }, pages, isNew) => namesOf(known, pages, isNew),
  async write(tx, walk, named, { isNew }) {
    const { n, again } = await (isNew ? insert : merge)(tx, walk, named)
    // Associations of accounts or entitlements that were not listed count as loose.
    return { written: n, repeated: again, loose: named.count - n }
  },
}

/** Finds the existing entitlements. */
const entitlementsOf = (app: Walk['app'], named: NamedPairs): SQL => sql`
  entitlement as (
    select named.n, found.id
    from unnest(${named.resourceIds}::text[], ${named.externalIds}::text[])
      with ordinality as named(resource, external, n)
    cross join lateral (select id from entitlements where entitlements.app_id = ${app.id}
      and md5(entitlements.resource_id || chr(1) || entitlements.external_id)
        = md5(named.resource || chr(1) || named.external) ${KEEP_INDEX_LOOKUP}) found
  )`

/** Finds the associations whose account and entitlement exist, as `joined`. */
const joined = ({ app }: Walk, named: NamedPairs): SQL => sql`
  account as (
    select named.n, found.id
    from unnest(${named.accounts}::text[]) with ordinality as named(external, n)
    cross join lateral (select id from accounts where accounts.app_id = ${app.id}
      and accounts.unique_identifier = named.external ${KEEP_INDEX_LOOKUP}) found
  ), ${entitlementsOf(app, named)}, joined as (
    select account.id as account_id, entitlement.id as entitlement_id
    from unnest(${named.ofAccounts}::bigint[], ${named.ofEntitlements}::bigint[]) as pair(a, e)
    join account on account.n = pair.a
    join entitlement on entitlement.n = pair.e
  )`

/** Inserts in the order of the key, so that neighbouring rows go into the same pages of its index. */
const rowsOf = ({ app, run }: Walk): SQL => sql`
  insert into associations (app_id, account_id, entitlement_id, seen_run, first_run)
  select ${app.id}, account_id, entitlement_id, ${run.id}, ${run.id} from joined order by account_id, entitlement_id`

type Associated = { n: number; again: number }

/** Inserts the associations, and returns their number. */
async function insert(tx: Db, walk: Walk, named: NamedPairs): Promise<Associated> {
  const known = named.known.accounts.length
  const copied = known > 0 ? await copy(tx, walk, named) : 0
  if (known === named.count) return { n: copied, again: 0 }
  const { rowCount } = await tx.execute(sql`with ${joined(walk, named)} ${rowsOf(walk)}`)
  return { n: copied + (rowCount ?? 0), again: 0 }
}

/** Writes the pairs of known accounts, and returns their number. */
async function copy(tx: Db, { app, run, known }: Walk, named: NamedPairs): Promise<number> {
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

/**
 * Upserts the associations. Returns how many now exist, and how many of those this run had already written:
 * these are not updated.
 */
async function merge(tx: Db, walk: Walk, named: NamedPairs): Promise<Associated> {
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
