/** Holders of the apps and permissions that rules name, by complete syncs and by requests. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { associationSpansOf, holdersOf } from '../history/association-spans.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { UNUSABLE } from '../provisioning/read-back.ts'
import { GONE } from '../provisioning/standings.ts'
import { appThing, permissionThing, type RuleSides, type Thing } from './rules.ts'

/** Returns the apps and permissions that rules name. */
export function ruleTargets(rules: readonly Omit<RuleSides, 'id'>[]): {
  apps: string[]
  permissions: string[]
} {
  const sides = rules.flatMap(({ left, right }) => [left, right])
  return {
    apps: [...new Set(sides.flatMap((one) => one.apps))],
    permissions: [...new Set(sides.flatMap((one) => one.permissions))],
  }
}

/** States in which an account gives no access. */
export const INACTIVE_ACCOUNTS: readonly string[] = [
  ...GONE,
  ...UNUSABLE.filter((one) => one !== null),
]

const texts = (values: readonly string[]): SQL => sql`${sql.param([...values])}`

type Named = { apps: readonly string[]; permissions: readonly string[] }

/** Like `Named`, as SQL expressions: arrays of ids as texts. */
type NamedTexts = { apps: SQL; permissions: SQL }

const written = ({ apps, permissions }: Named): NamedTexts => ({
  apps: texts(apps),
  permissions: texts(permissions),
})

/** Condition that an account `a` gives access. */
const isActive = sql`a.until is null and coalesce(a.status, 'ACTIVE') <> all(${sql.param([...INACTIVE_ACCOUNTS])}::text[])`

/** Joins from each entitlement to its holders. Fast for many people. */
const HOLDERS_OF_EACH = sql`cross join lateral ${holdersOf(sql`e`)} h
  join account_spans a on a.account_id = h.account_id and h.until is null and ${isActive}`

/** Joins from each account to its entitlements. Fast for one person. */
const HELD_BY_EACH = sql`join account_spans a on a.domain_id = e.domain_id and a.app_id = e.app_id and ${isActive}
  join lateral ${associationSpansOf({
    domainId: sql`a.domain_id`,
    appId: sql`a.app_id`,
    accountId: sql`a.account_id`,
    entitlementId: sql`e.id`,
  })} h on h.until is null`

/**
 * Query for rows of (user_id, thing), without duplicates.
 *
 * @param of condition on the `user_id` of each part
 * @param requests condition on the requests `r` that count as holding
 * @param holders join of the accounts `a` that hold the entitlement `e`
 */
const holdingRows = (
  domainId: string,
  { apps, permissions }: NamedTexts,
  of: (user: SQL) => SQL,
  requests: SQL,
  holders: SQL,
): SQL => sql`
  select a.user_id, 'app ' || a.app_id as thing from account_spans a
  where a.domain_id = ${domainId} and a.app_id = any((${apps})::uuid[]) and ${isActive}
    and a.user_id is not null and ${of(sql`a.user_id`)}
  union
  select a.user_id, 'permission ' || p.id from requestable_permissions p
  cross join lateral (select * from entitlements x where x.app_id = p.app_id
    and md5(x.resource_id || chr(1) || x.external_id) = md5(p.resource_id || chr(1) || p.entitlement_id) limit 1) e
  ${holders}
  where e.entitlement_type = p.entitlement_type and p.domain_id = ${domainId} and p.id = any((${permissions})::uuid[])
    and a.user_id is not null and ${of(sql`a.user_id`)}
  union
  select r.target_user_id, thing from access_requests r
  cross join lateral (values ('app ' || r.app_id), ('permission ' || r.permission_id)) things (thing)
  where r.domain_id = ${domainId} and ${requests} and ${of(sql`r.target_user_id`)}
    and (r.app_id = any((${apps})::uuid[]) and thing like 'app %'
      or r.permission_id = any((${permissions})::uuid[]) and thing like 'permission %')`

/** Requests that wait for a decision, or whose access is granted or being granted. */
const ASKED = sql`r.status in ('PENDING', 'PENDING_MANAGER_APPROVAL', 'MANAGER_APPROVED',
  'PENDING_APPROVAL', 'APPROVED', 'PENDING_PROVISIONING', 'PENDING_MANUAL_PROVISIONING', 'PROVISIONED', 'COMPLETED')`
/** Requests whose access is granted. */
const THERE = sql`r.status = 'COMPLETED'`

/** Returns the things that a person holds or has requested, except through one request. */
export async function holdingsOf(
  db: Db,
  { domainId, userId, without }: { domainId: string; userId: string; without: string | null },
  named: Named,
): Promise<Set<Thing>> {
  const requests = without === null ? ASKED : sql`${ASKED} and r.id <> ${without}`
  const of = (user: SQL) => sql`${user} = ${userId}`
  const { rows } = await db.execute<{ thing: Thing }>(
    holdingRows(domainId, written(named), of, requests, HELD_BY_EACH),
  )
  return new Set(rows.map(({ thing }) => thing))
}

/** Like `holdingsOf` for several people. People who hold nothing have no entry. */
export async function holdingsOfEach(
  db: Db,
  domainId: string,
  userIds: readonly string[],
  named: Named,
): Promise<Map<string, Set<Thing>>> {
  const of = (user: SQL) => sql`${user} = any((${texts(userIds)})::uuid[])`
  const { rows } = await db.execute<{ user_id: string; thing: Thing }>(
    holdingRows(domainId, written(named), of, ASKED, HELD_BY_EACH),
  )
  const byUser = Map.groupBy(rows, ({ user_id }) => user_id)
  return new Map(
    [...byUser].map(([userId, held]) => [userId, new Set(held.map(({ thing }) => thing))]),
  )
}

/** Returns the next holders, in the order of their user ids, with the things they hold. */
export async function nextHolders(
  db: Db,
  domainId: string,
  named: Named,
  after: string,
  most: number,
): Promise<{ userId: string; held: Set<Thing> }[]> {
  const of = (user: SQL) => sql`${user} > ${after}`
  const { rows } = await db.execute<{ user_id: string; things: Thing[] }>(sql`
    select user_id, array_agg(distinct thing) as things
    from (${holdingRows(domainId, written(named), of, THERE, HOLDERS_OF_EACH)}) held
    where exists (select from users u where u.id = held.user_id and ${usersWhoMayAct('u')})
    group by user_id order by user_id limit ${most}`)
  return rows.map(({ user_id, things }) => ({ userId: user_id, held: new Set(things) }))
}

/** Query for the people who hold a thing on both sides of a rule in force. */
export function breakersOf(domainId: string, ruleId: string): SQL {
  const idsOf = (
    side: SQL,
    name: string,
  ) => sql`array(select jsonb_array_elements_text(s.${side} -> ${name}::text)
    from separation_rules s where s.id::text = lower(${ruleId}) and s.domain_id = ${domainId} and s.is_enabled)`
  const holders = (side: SQL) => {
    const named = { apps: idsOf(side, 'apps'), permissions: idsOf(side, 'permissions') }
    return sql`select user_id from (${holdingRows(domainId, named, () => sql`true`, THERE, HOLDERS_OF_EACH)}) held`
  }
  return sql`${holders(sql`left_side`)} intersect ${holders(sql`right_side`)}`
}

/** Returns the display labels of things. */
export async function labelsOf(db: Db, things: readonly Thing[]): Promise<Map<Thing, string>> {
  const ids = [...new Set(things.map((thing) => thing.slice(thing.indexOf(' ') + 1)))]
  if (ids.length === 0) return new Map()
  const { rows } = await db.execute<{ id: string; label: string; is_app: boolean }>(sql`
    select id, name as label, true as is_app from apps where id = any(${texts(ids)}::uuid[])
    union all
    select p.id, p.label || ' in ' || a.name, false from requestable_permissions p
    join apps a on a.id = p.app_id where p.id = any(${texts(ids)}::uuid[])`)
  return new Map(
    rows.map(({ id, label, is_app }) => [is_app ? appThing(id) : permissionThing(id), label]),
  )
}
