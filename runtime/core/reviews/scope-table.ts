/**
 * Scope filters of an app of a review, as conditions on the data of its last complete sync. In them, `p` is
 * the row of the population, `a` the account as synced, `n` the account as currently known, `u` its person,
 * `e` the entitlement.
 */

import { type SQL, sql } from 'drizzle-orm'
import { ACCESS_LENGTHS } from '../../contract/models/access-length.ts'
import { ACCOUNT_TYPES } from '../../contract/models/app.ts'
import { LICENCE_TYPES, PRIVILEGED_NAMES } from '../../contract/models/entitlement-tag.ts'
import { USER_STATUSES } from '../../contract/models/person.ts'
import type { ScopeFilter, ScopeGroup } from '../../contract/models/review-scope.ts'
import { isKeyOf, keysOf } from '../../contract/schema/keys.ts'
import { DECISION_CATEGORIES } from '../../database/schema/tasks.ts'
import { isRequestable } from '../catalogue/store/requestable.ts'
import { heldBy } from '../history/association-spans.ts'
import { isId } from '../kernel/by-id.ts'
import { breakersOf } from '../separation/holdings.ts'
import { attribute } from './attribute.ts'
import {
  between,
  faultUnlessOneOf,
  type Population,
  plain,
  type ScopeRow,
  timed,
  wanted,
} from './scope-row.ts'

const accountsOf = (appId: string) =>
  sql`account_spans a where a.app_id = ${appId} and a.until is null`

/** Condition on the entitlement of a line or, for an account, on any entitlement it holds. */
const ofEntitlement = (
  isSuch: (entitlement: SQL) => SQL,
): SQL => sql`case when p.entitlement_id is not null
  then ${isSuch(sql`e`)} else exists (select from ${heldBy(sql`a`)} h
    join entitlements x on x.id = h.entitlement_id
    where h.until is null and ${isSuch(sql`x`)}) end`

/** Condition that a current request `q` granted it, with the reason `r`, and meets a condition. */
const ofRequest = ({ appId, given }: Population, isSuch: SQL): SQL => sql`exists (
  select from reason_spans r join access_requests q on q.id = r.request_id
  where r.user_id = a.user_id and r.until is null and r.carried_app_id = ${appId} and ${given} and ${isSuch})`

/** Time since which it is held. An account's span begins with its last change, so its creation counts too. */
const HELD_SINCE = sql`case when p.entitlement_id is null then least(p.since, n.created_at) else p.since end`

/** Time of the last approval of the request `q`, or of its creation if it needed none. */
const APPROVED_AT = sql`(select coalesce(max(k.updated_at), q.created_at) from tasks k
  where k.access_request_id = q.id and k.status = 'COMPLETED'
    and k.task_category in (${DECISION_CATEGORIES}))`

const TEAM = sql`coalesce(${attribute('team')}, ${attribute('department')})`

const LENGTHS = keysOf(ACCESS_LENGTHS)

const DELTAS = [
  { value: 'NEW', label: 'New since the last review' },
  { value: 'CHANGED', label: 'Changed since the last review' },
  { value: 'UNCHANGED', label: 'Unchanged since the last review' },
] as const

/** Properties of an entitlement other than its type, by tag. */
const TAGS = {
  PRIVILEGED: {
    label: 'Privileged',
    fits: (e: SQL) => sql`${e}.entitlement_type || ' ' || ${e}.label ~* ${PRIVILEGED_NAMES}`,
  },
  LICENCE: { label: 'Licence', fits: (e: SQL) => sql`${e}.entitlement_type ~* ${LICENCE_TYPES}` },
  REQUESTABLE: { label: 'In the store', fits: isRequestable },
} as const

/** Filters by group. */
export const SCOPES: Record<ScopeGroup, ScopeRow> = {
  ACCOUNT_ENTITLEMENT: {
    fits: (filter) =>
      ofEntitlement(
        (e) => sql`(${e}.id::text = ${wanted(filter)} or ${e}.external_id = ${wanted(filter)})`,
      ),
    options: (appId) => sql`select e.label, e.id::text as value from entitlements e
      where e.app_id = ${appId} and e.gone_at is null`,
  },
  ENTITLEMENT_TAG: {
    fits(filter) {
      const tag = wanted(filter)
      return ofEntitlement((e) =>
        isKeyOf(TAGS, tag) ? TAGS[tag].fits(e) : sql`${e}.entitlement_type = ${tag}`,
      )
    },
    options: (appId) => sql`select label, value from (values ${sql.join(
      keysOf(TAGS).map((tag) => sql`(${TAGS[tag].label}::text, ${tag}::text)`),
      sql`, `,
    )}) tags (label, value)
      union select e.entitlement_type, e.entitlement_type from entitlements e
      where e.app_id = ${appId} and e.gone_at is null`,
  },
  TEAM: {
    fits: (filter) => sql`${TEAM} = ${wanted(filter)}`,
    options: (appId) => sql`select distinct ${TEAM} as label, ${TEAM} as value from users u
      where ${TEAM} is not null and u.id in (select a.user_id from ${accountsOf(appId)})`,
  },
  EMPLOYMENT_STATUS: {
    fits: (filter) => sql`u.status = ${wanted(filter)}`,
    options: plain(USER_STATUSES),
    fault: faultUnlessOneOf(USER_STATUSES),
  },
  EMAIL_DOMAIN: {
    fits: (filter) => sql`lower(split_part(a.email, '@', 2)) = lower(${wanted(filter)})`,
    options: (appId) => sql`select distinct lower(split_part(a.email, '@', 2)) as label,
      lower(split_part(a.email, '@', 2)) as value from ${accountsOf(appId)} and a.email like '%@%'`,
  },
  CATEGORIES: {
    fits: (filter) => sql`a.account_type = ${wanted(filter)}`,
    options: plain(ACCOUNT_TYPES),
    fault: faultUnlessOneOf(ACCOUNT_TYPES),
  },
  ACCOUNT_DELTA: {
    fits: (filter, { appId, isEarlier }) => sql`${wanted(filter)} = (select case
        when l.at is null or ${HELD_SINCE} > l.at then 'NEW' when a.since > l.at then 'CHANGED' else 'UNCHANGED' end
      from (select max(b.launched_at) as at from access_review_apps b where b.app_id = ${appId} and ${isEarlier}) l)`,
    options: DELTAS,
    fault: faultUnlessOneOf(DELTAS.map(({ value }) => value)),
  },
  ACCOUNT_STATUS: {
    fits: (filter) => sql`coalesce(a.status, '') = ${wanted(filter)}`,
    options: (appId) => sql`select distinct a.status as label, a.status as value
      from ${accountsOf(appId)} and a.status is not null`,
  },
  ACCOUNT_SOURCE: {
    fits: (filter) => sql`${wanted(filter)} = any(n.sources)`,
    options: (appId) => sql`select distinct one as label, one as value
      from accounts n, unnest(n.sources) one where n.app_id = ${appId} and n.gone_at is null`,
  },
  SOD_POLICY: {
    fits: (filter, { domainId }) => sql`a.user_id in (${breakersOf(domainId, wanted(filter))})`,
    options: (
      _,
      domainId,
    ) => sql`select s.name as label, s.id::text as value from separation_rules s
      where s.domain_id = ${domainId} and s.is_enabled`,
    fault: (value) =>
      isId(value) ? null : 'must be the id of a rule, as GET /separation_of_duties lists it',
  },
  ACCESS_GRANTED_AT: timed((holds) => holds(HELD_SINCE)),
  ACCESS_REQUESTED_AT: timed((holds, of) => ofRequest(of, holds(sql`q.created_at`))),
  ACCESS_APPROVED_AT: timed((holds, of) => ofRequest(of, holds(APPROVED_AT))),
  ACCESS_PROVISIONED_AT: timed((holds, of) => ofRequest(of, holds(sql`r.since`))),
  ACCESS_LENGTH: {
    fits(filter, of) {
      const length = wanted(filter)
      const seconds = isKeyOf(ACCESS_LENGTHS, length) ? ACCESS_LENGTHS[length] : 0
      return ofRequest(of, sql`q.expiration_in_seconds is not distinct from ${seconds}::int`)
    },
    options: plain(LENGTHS),
    fault: faultUnlessOneOf(LENGTHS),
  },
  USER_OR_GROUP: {
    fits: (filter) => sql`(a.user_id::text = lower(${wanted(filter)}) or exists (
      select from group_members m where m.user_id = a.user_id and m.group_id::text = lower(${wanted(filter)})))`,
    options: (appId) => sql`select u.email as label, u.id::text as value from users u
      where u.id in (select a.user_id from ${accountsOf(appId)})`,
  },
  UNMATCHED_ACCOUNTS: {
    fits: () => sql`a.user_id is null`,
    options: [{ label: 'Unmatched', value: 'UNMATCHED' }],
  },
  LAST_LOGIN: between(sql`n.last_login`),
  LAST_ACTIVITY: between(sql`n.last_activity`),
  CUSTOM_ATTRIBUTE: {
    fits: (filter: ScopeFilter) =>
      'name' in filter
        ? sql`coalesce(u.custom_attributes -> ${filter.name}::text ->> 'value', '') = ${filter.value ?? ''}`
        : sql`false`,
    options: null,
  },
}
