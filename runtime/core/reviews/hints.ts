/**
 * Hints on a line, as SQL over the rows that a snapshot joins: `p` is the row of the population, `a` the
 * account, `u` its person, `e` the entitlement, `used` its last use, `why` its reasons, `peers` the peers who
 * hold it.
 */
import { type SQL, sql } from 'drizzle-orm'
import { PRIVILEGED_NAMES } from '../../contract/models/entitlement-tag.ts'
import { FEW_PEERS, type Hint, MIN_PEERS } from '../../contract/models/review-item.ts'
import type { Db } from '../../database/database.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { rulesInForce } from '../separation/check.ts'
import { breakersOf } from '../separation/holdings.ts'
import { attribute } from './attribute.ts'

/** Days of the hint `UNUSED_90_DAYS`, whose name is fixed on the wire. Those of findings may change. */
const UNUSED_DAYS = 90

const WHEN: Record<Exclude<Hint, 'SEPARATION_BROKEN'>, SQL> = {
  PERSON_TERMINATED: sql`not (${usersWhoMayAct('u')})`,
  ACCOUNT_UNMATCHED: sql`a.user_id is null and a.account_type = 'USER'`,
  NEVER_USED: sql`used.at is null and used.told`,
  UNUSED_90_DAYS: sql`used.at < now() - make_interval(days => ${UNUSED_DAYS})`,
  PRIVILEGED: sql`e.entitlement_type || ' ' || e.label ~* ${PRIVILEGED_NAMES}`,
  FEW_PEERS: sql`peers.size >= ${MIN_PEERS} and peers.held < peers.size * ${FEW_PEERS}::float8`,
  GIVEN_BY_POLICY: sql`why.policy`,
  GIVEN_BY_REQUEST: sql`why.request`,
  NOBODY_ASKED: sql`why.reasons is null`,
  NEW_SINCE_LAST_REVIEW: sql`p.since > (select max(b.launched_at) from access_review_apps b
    where b.app_id = a.app_id and b.launched_at is not null)`,
}

/** SQL for the array of hint names of a line. */
export function hintsOf(broken: SQL): SQL {
  const all = { SEPARATION_BROKEN: broken, ...WHEN }
  const each = Object.entries(all).map(
    ([name, when]) => sql`case when ${when} then ${name}::text end`,
  )
  return sql`array_remove(array[${sql.join(each, sql`, `)}], null)`
}

/** Condition that a line is part of a broken rule of separation of duties in force. */
export async function brokenIn(db: Db, domainId: string, appId: string): Promise<SQL> {
  const rules = await rulesInForce(db, domainId)
  const breaks = rules.map(({ id, left, right }) => {
    const permissions = sql.param([...left.permissions, ...right.permissions])
    const isNamed = [...left.apps, ...right.apps].includes(appId)
      ? sql`true`
      : sql`p.entitlement_id in (select x.id from requestable_permissions k
          join entitlements x on x.app_id = k.app_id and x.entitlement_type = k.entitlement_type
            and x.external_id = k.entitlement_id and x.resource_id = coalesce(k.resource_id, '')
          where k.app_id = ${appId} and k.id = any(${permissions}::uuid[]))`
    return sql`(a.user_id in (${breakersOf(domainId, id)}) and ${isNamed})`
  })
  return breaks.length === 0 ? sql`false` : sql`(${sql.join(breaks, sql` or `)})`
}

/**
 * Parts of a `with` clause, after `population`: teams of people with the same manager or else title, their
 * sizes, and the number of members who hold each item.
 */
export const peersIn = (domainId: string): SQL => sql`
  teams as materialized (
    select u.id, case when u.manager_id is null then 'title ' || lower(${attribute('title')})
      else u.manager_id::text end as team
    from users u where u.domain_id = ${domainId} and ${usersWhoMayAct('u')}),
  team_sizes as (select team, count(*) as n from teams where team is not null group by team),
  team_holds as (
    select t.team, coalesce(p.entitlement_id, 0) as entitlement_id, count(distinct a.user_id) as n
    from population p join account_spans a on a.account_id = p.account_id and a.until is null
    join teams t on t.id = a.user_id where t.team is not null group by 1, 2)`

/** Joins from a line to its peers, not counting the person who holds it. Null if there are none. */
export const PEERS: SQL = sql`
  left join teams own on own.id = a.user_id
  left join team_sizes on team_sizes.team = own.team and team_sizes.n > 1
  left join team_holds on team_holds.team = team_sizes.team
    and team_holds.entitlement_id = coalesce(p.entitlement_id, 0)
  cross join lateral (select team_holds.n - 1 as held, team_sizes.n - 1 as size) peers`
