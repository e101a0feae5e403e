/**
 * Snapshot of the lines of an app, from its last complete sync by the open spans of the history. One
 * statement takes it, which sees a single state of the database. Each row of the population becomes an item,
 * is excluded by one group of filters, or is left out. The numbers must add up to a separate count.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { ReviewAppRow } from '../../database/schema/reviews.ts'
import { DECISION_CATEGORIES } from '../../database/schema/tasks.ts'
import { associationSpansOf } from '../history/association-spans.ts'
import { brokenIn, hintsOf, PEERS, peersIn } from './hints.ts'
import { scopeGroups } from './scope.ts'
import { writeTexts } from './texts.ts'

/** Numbers of a snapshot. */
export type Counted = {
  synced: number
  items: number
  excluded: Record<string, number>
  leftOut: number
  accounts: number
}

type OfApp = Pick<ReviewAppRow, 'appId' | 'domainId'>

const OF_ENTITLEMENTS = {
  population: ({ appId, domainId }: OfApp) => sql`
    select account_id, entitlement_id, since
    from ${associationSpansOf({ domainId: sql`${domainId}`, appId: sql`${appId}` })} s where until is null`,
  known: sql`a.id is not null and e.id is not null`,
  // Granted by the request: the same entitlement, or a permission that stands for it.
  given: sql`r.entitlement ->> 'entitlementId' = e.external_id
    and r.entitlement ->> 'resourceId' = e.resource_id
    and r.entitlement ->> 'entitlementType' = e.entitlement_type`,
}

const OF_ACCOUNTS = {
  population: ({ appId, domainId }: OfApp) => sql`
    select account_id, null::bigint as entitlement_id, since from account_spans
    where domain_id = ${domainId} and app_id = ${appId} and until is null`,
  known: sql`a.id is not null`,
  given: sql`r.label is null and r.entitlement is null`,
}

const FOUND = JSON.stringify([
  { kind: 'found', request_id: null, policy_id: null, since: null, until: null },
])

type Scoped = OfApp & Pick<ReviewAppRow, 'reviewType' | 'scope'>

const OF = { ACCOUNTS: OF_ACCOUNTS, ENTITLEMENTS: OF_ENTITLEMENTS } as const

/** Condition that the reason `r` granted a line, whose entitlement is `e`. */
export const GIVEN: SQL = sql`case when e.id is null then ${OF_ACCOUNTS.given} else ${OF_ENTITLEMENTS.given} end`

/** Parts of a `with` clause: `population`, and `judged`, its rows with the cause of their exclusion. */
function judgedBy({ appId, domainId, reviewType, scope }: Scoped): SQL {
  const of = OF[reviewType]
  const population = { appId: sql`${appId}`, domainId, given: of.given, isEarlier: sql`true` }
  const excludedBy = sql.join(
    scopeGroups(scope ?? [], population).map(
      ({ group, fits }) => sql`when not coalesce(${fits}, false) then ${group}`,
    ),
    sql` `,
  )
  return sql`population as materialized (${of.population({ appId, domainId })}),
    judged as materialized (
      select p.account_id, p.entitlement_id, p.since,
        case when not (${of.known}) then '' ${excludedBy} end as excluded
      from population p
      left join account_spans a on a.account_id = p.account_id and a.until is null
      left join accounts n on n.id = p.account_id
      left join users u on u.id = a.user_id
      left join entitlements e on e.id = p.entitlement_id
    )`
}

type Count = { what: string; n: string }

/** Query for the counts: all rows, the `kept` ones, and the excluded ones by cause. */
const countedOf = (of: Scoped, kept: SQL): SQL => sql`
    select 'synced' as what, count(*) as n from (${OF[of.reviewType].population(of)}) all_of_it
    union all select 'items', count(*) from ${kept}
    union all select 'accounts', count(distinct account_id) from ${kept}
    union all select 'left out', count(*) from judged where excluded = ''
    union all select 'by ' || excluded, count(*) from judged where excluded <> '' group by excluded`

function toCounted(rows: readonly Count[], { scope }: Scoped): Counted {
  const counts = new Map(rows.map(({ what, n }) => [what, Number(n)]))
  const groups = [...new Set((scope ?? []).map(({ group }) => group))]
  return {
    synced: counts.get('synced') ?? 0,
    items: counts.get('items') ?? 0,
    accounts: counts.get('accounts') ?? 0,
    leftOut: counts.get('left out') ?? 0,
    excluded: Object.fromEntries(groups.map((group) => [group, counts.get(`by ${group}`) ?? 0])),
  }
}

/** Counts the items that a scope would make now, and returns the first of them. */
export async function countScope(db: Db, scoped: Scoped, most: number) {
  const { rows } = await db.execute<Count & { lines: ScopeExample[] | null }>(sql`
    with ${judgedBy(scoped)},
    kept as (select * from judged where excluded is null),
    first_lines as (
      select a.unique_identifier, e.label from kept p
      join account_spans a on a.account_id = p.account_id and a.until is null
      left join entitlements e on e.id = p.entitlement_id
      order by a.unique_identifier, e.label, e.id limit ${most}
    )
    select counted.*, null::json as lines from (${countedOf(scoped, sql`kept`)}) counted
    union all select 'lines', 0, (select json_agg(f) from first_lines f)`)
  const examples = rows.find(({ what }) => what === 'lines')?.lines ?? []
  return { ...toCounted(rows, scoped), examples }
}

type ScopeExample = { unique_identifier: string; label: string | null }

/** Table of the lines of a launch until they are written, aliased as their final table. */
export const TAKEN: SQL = sql`review_lines as access_review_items`

/**
 * Takes the snapshot of an app without lines, and counts it. The lines go into a temporary table, in which
 * assigning them is cheap; `writeTaken` writes them. One app per transaction.
 */
export async function takeSnapshot(tx: Db, reviewApp: ReviewAppRow): Promise<Counted> {
  const { id, reviewId, appId, domainId, reviewType } = reviewApp
  const of = OF[reviewType]
  const broken = await brokenIn(tx, domainId, appId)
  await tx.execute(sql`
    create temporary table review_lines (like access_review_items including defaults) on commit drop`)
  const { rows } = await tx.execute<Count>(sql`
    with ${judgedBy(reviewApp)}, ${peersIn(domainId)}, made as (
      insert into review_lines (domain_id, review_id, arda_id, app_id, account_id, entitlement_id,
        account, account_type, account_status, account_email, user_id, user_email, user_name,
        entitlement_type, external_id, resource_id, resource_type, label,
        held_since, last_login, last_activity, reasons, involved, peers_held, peers_of, hints)
      select ${domainId}::uuid, ${reviewId}::uuid, ${id}::uuid, ${appId}::uuid, p.account_id, p.entitlement_id,
        a.unique_identifier, a.account_type, a.status, a.email, a.user_id, u.email,
        nullif(trim(u.given_name || ' ' || u.family_name), ''),
        e.entitlement_type, e.external_id, e.resource_id, case when e.id is null then null else coalesce(t.resource_type, '') end,
        e.label, p.since, n.last_login, n.last_activity,
        coalesce(why.reasons, ${FOUND}::jsonb), coalesce(why.involved, '{}'),
        peers.held, case when peers.held is not null then peers.size end,
        ${hintsOf(broken)}
      from judged p
      join account_spans a on a.account_id = p.account_id and a.until is null
      left join accounts n on n.id = p.account_id
      left join users u on u.id = a.user_id
      left join entitlements e on e.id = p.entitlement_id
      left join lateral (select resource_type from resources
        where app_id = ${appId} and md5(external_id) = md5(e.resource_id) and external_id = e.resource_id
        limit 1) t on e.resource_id <> ''
      cross join lateral (select greatest(n.last_login, n.last_activity) as at, exists (
        select from accounts o where o.app_id = ${appId} and o.last_login is not null) as told) used
      cross join lateral (
        select jsonb_agg(jsonb_build_object(
            'kind', case when r.policy_id is null then 'request' else 'policy' end,
            'request_id', r.request_id, 'policy_id', r.policy_id, 'since', r.since, 'until', null)
            order by r.since, r.id) as reasons,
          bool_or(r.policy_id is not null) as policy, bool_or(r.policy_id is null) as request,
          (select array_agg(distinct k.resolved_by_id) from reason_spans s
            join tasks k on k.access_request_id = s.request_id
            where s.id = any(array_agg(r.id)) and k.status = 'COMPLETED' and k.resolved_by_id is not null
              and k.task_category in (${DECISION_CATEGORIES}, 'PROVISIONING')) as involved
        from reason_spans r
        where r.user_id = a.user_id and r.until is null and r.carried_app_id = ${appId} and ${of.given}) why
      ${PEERS}
      where p.excluded is null
      order by a.unique_identifier, e.label, e.id
      returning account_id
    )
    ${countedOf(reviewApp, sql`made`)}`)
  await tx.execute(sql`analyze review_lines`)
  return toCounted(rows, reviewApp)
}

/** Writes the lines of the snapshot with their reviewers. @returns the number of lines */
export async function writeTaken(tx: Db, { id }: ReviewAppRow): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    insert into access_review_items select * from review_lines order by place`)
  await writeTexts(tx, id)
  return rowCount ?? 0
}

/** Reports whether no row of the population is missing or counted twice. */
export const addsUp = ({ synced, items, excluded, leftOut }: Counted): boolean =>
  synced === items + leftOut + Object.values(excluded).reduce((sum, n) => sum + n, 0)
