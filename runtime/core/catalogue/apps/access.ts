/** Access that a person held at a moment, and the reasons, from the spans of the history alone. */
import { sql } from 'drizzle-orm'
import type { QueryOf } from '../../../contract/endpoints/table.ts'
import type { Access, AccessReason } from '../../../contract/models/access.ts'
import type { Db } from '../../../database/database.ts'
import { findUser } from '../../directory/users.ts'
import { checkMoment, type Moment, spanHolds } from '../../history/as-of.ts'
import { heldBy } from '../../history/association-spans.ts'
import { type Principal, requirePermission } from '../../kernel/identity/principal.ts'

type Row = Omit<Access, 'reasons' | 'since' | 'until' | 'first_run' | 'last_run' | 'gone_run'> & {
  total: string
  since: Date
  until: Date | null
  first_run: string | null
  last_run: string | null
  gone_run: string | null
  reasons: AccessReason[] | null
}

/**
 * Lists a user's access, by app, account and label. Access of another user requires accounts.read.
 *
 * @throws CoreError `forbidden`, `not_found`, `invalid` for a moment outside the history
 */
export async function listUserAccess(
  db: Db,
  principal: Principal,
  userId: string,
  query: QueryOf<'list_user_access'>,
) {
  if (userId !== principal.userId) requirePermission(principal, 'accounts.read')
  const user = await findUser(db, principal, userId)
  if (query.as_of !== null) await checkMoment(db, query.as_of)
  const at = query.as_of ?? 'now'
  const { page, size } = query
  const { rows } = await db.execute<Row>(accessAt(user.id, at, size, (page - 1) * size))
  const total = rows.length > 0 ? Number(rows[0]?.total) : await countAt(db, user.id, at)
  return { items: rows.map(toAccess), total, page, size, pages: Math.ceil(total / size) }
}

/**
 * Reads the access that a person holds in one app now, up to `limit` entries. It does not check permissions:
 * callers must.
 */
export async function accessInApp(
  db: Db,
  userId: string,
  appId: string,
  limit: number,
): Promise<Access[]> {
  const { rows } = await db.execute<Row>(accessAt(userId, 'now', limit, 0, appId))
  return rows.map(toAccess)
}

/** Counts the access of a user, for a page past the end. */
async function countAt(db: Db, userId: string, at: Moment): Promise<number> {
  const { rows } = await db.execute<Row>(accessAt(userId, at, 1, 0))
  return Number(rows[0]?.total ?? 0)
}

const confirmed = (span: string) => sql`case when ${sql.raw(span)}.until is null
  then (select max(r.id) from sync_runs r where r.app_id = ${sql.raw(span)}.app_id and r.state = 'SUCCEEDED')
  else ${sql.raw(span)}.last_run end`

/**
 * Returns the query for a page of a user's access, with the reasons of each entry. `total` is the same in all
 * rows.
 */
const accessAt = (
  userId: string,
  at: Moment,
  limit: number,
  offset: number,
  appId: string | null = null,
) => sql`
  with reason as materialized (
    select s.*, s.entitlement ->> 'entitlementId' as entitlement_id,
      s.entitlement ->> 'resourceId' as resource_id
    from reason_spans s where s.user_id = ${userId} and ${spanHolds('s', at)}
  ), account as materialized (
    select s.* from account_spans s where s.user_id = ${userId} and ${spanHolds('s', at)}
  ), held as materialized (
    select s.*, a.unique_identifier, a.status, e.entitlement_type, e.external_id, e.resource_id, e.label
    from account a cross join lateral ${heldBy(sql`a`)} s
    join entitlements e on e.id = s.entitlement_id
    where ${spanHolds('s', at)}
  ), everything as (
    select 'account' as kind, a.app_id, a.account_id, a.unique_identifier, a.status, null::uuid as group_id,
      null as entitlement_type, null as entitlement_id, null as resource_id, null as label,
      a.since, a.until, a.first_run, ${confirmed('a')} as last_run, a.gone_run, null::uuid as request_id
    from account a
    union all
    select 'entitlement', h.app_id, h.account_id, h.unique_identifier, h.status, null,
      h.entitlement_type, h.external_id, h.resource_id, h.label,
      h.since, h.until, h.first_run, ${confirmed('h')}, h.gone_run, null
    from held h
    union all
    select 'group', g.app_id, null, null, null, g.id, null, null, null, g.name,
      s.since, s.until, s.first_run, case when s.until is null and g.app_id is not null then
        (select max(r.id) from sync_runs r where r.app_id = g.app_id and r.state = 'SUCCEEDED')
        else s.last_run end, s.gone_run, null
    from member_spans s join groups g on g.id = s.group_id
    where s.user_id = ${userId} and ${spanHolds('s', at)}
    union all
    select 'granted', r.app_id, null, null, null, null, r.entitlement ->> 'entitlementType',
      r.entitlement_id, r.resource_id, r.label, r.since, r.until, null, null, null, r.request_id
    from reason r
    where case when r.label is null and r.entitlement is null
      then not exists (select from account a where a.app_id = r.carried_app_id)
      else r.entitlement is null or not exists (select from held h where h.app_id = r.carried_app_id
        and h.external_id = r.entitlement_id and h.resource_id = r.resource_id) end
  ), paged as (
    select x.*, apps.name as app_name, count(*) over () as total
    from everything x left join apps on apps.id = x.app_id
    where ${appId}::uuid is null or x.app_id = ${appId}::uuid
    order by apps.name, x.app_id, x.unique_identifier, x.kind, x.label, x.resource_id, x.entitlement_id,
      x.account_id, x.group_id, x.request_id
    limit ${limit} offset ${offset}
  )
  select p.*, (
    select json_agg(json_build_object('kind', case when r.policy_id is null then 'request' else 'policy' end,
      'request_id', r.request_id, 'policy_id', r.policy_id, 'policy_name', policy.name,
      'request_status', request.status, 'ends_at', request.expires_at, 'since', r.since, 'until', r.until,
      'end_reason', request.notes ->> 'REVERTING', 'revoked_by_user_id', request.revoked_by_id)
      order by r.since, r.id)
    from reason r
    left join access_requests request on request.id = r.request_id
    left join access_policies policy on policy.id = r.policy_id
    where case p.kind
      when 'account' then r.carried_app_id = p.app_id and r.label is null and r.entitlement is null
      when 'entitlement' then r.carried_app_id = p.app_id
        and r.entitlement_id = p.entitlement_id and r.resource_id = p.resource_id
      when 'granted' then r.request_id = p.request_id
      else false end) as reasons
  from paged p
  order by p.app_name, p.app_id, p.unique_identifier, p.kind, p.label, p.resource_id, p.entitlement_id,
    p.account_id, p.group_id, p.request_id`

const FOUND: AccessReason = {
  kind: 'found',
  request_id: null,
  policy_id: null,
  policy_name: null,
  request_status: null,
  ends_at: null,
  since: null,
  until: null,
  end_reason: null,
  revoked_by_user_id: null,
}

const iso = (moment: Date | string | null): string | null =>
  moment === null ? null : new Date(moment).toISOString()
const number = (text: string | null): number | null => (text === null ? null : Number(text))

const toAccess = (row: Row): Access => ({
  kind: row.kind,
  app_id: row.app_id,
  app_name: row.app_name,
  account_id: row.account_id,
  unique_identifier: row.unique_identifier,
  status: row.status,
  group_id: row.group_id,
  entitlement_type: row.entitlement_type,
  entitlement_id: row.entitlement_id,
  resource_id: row.resource_id,
  label: row.label,
  since: iso(row.since) ?? '',
  until: iso(row.until),
  first_run: number(row.first_run),
  last_run: number(row.last_run),
  gone_run: number(row.gone_run),
  reasons: row.reasons?.map((one) => ({
    ...one,
    ends_at: iso(one.ends_at ?? null),
    since: iso(one.since ?? null),
    until: iso(one.until ?? null),
  })) ?? [FOUND],
})
