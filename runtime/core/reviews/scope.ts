/**
 * SCOPES: the filters that an app of a review can have, as conditions on what its last complete sync told. In them
 * `p` is the row of the population, `a` the account as it was, `n` the account as it is known now, `u` its person,
 * `e` the entitlement.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { ReviewAppError } from '../../contract/models/access-review.ts'
import type {
  ScopeFilter,
  ScopeFilterGroupOutput,
  ScopeGroup,
} from '../../contract/models/review-scope.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'

type ScopeRow = {
  name: string
  type: ScopeFilterGroupOutput['type']
  /** Keeps what the filter fits. */
  fits(filter: ScopeFilter): SQL
  /** `label` and `value` of what the filter can be, for an app; null where anything can be written. */
  options: ((appId: string) => SQL) | null
}

/** What a filter is compared with. */
const wanted = (filter: ScopeFilter): string =>
  'name' in filter ? (filter.value ?? filter.name) : ''

const between = (column: SQL) => (filter: ScopeFilter) => {
  if ('name' in filter) return sql`false`
  const { after, before } = filter
  const at = (text: string) => sql`${parseDatetime(text)?.toISOString()}::timestamptz`
  return sql`(${column} is not null
    ${after === undefined ? sql`` : sql`and ${column} >= ${at(after)}`}
    ${before === undefined ? sql`` : sql`and ${column} <= ${at(before)}`})`
}

const accountsOf = (appId: string) =>
  sql`account_spans a where a.app_id = ${appId} and a.until is null`

export const SCOPES: Partial<Record<ScopeGroup, ScopeRow>> = {
  ACCOUNT_ENTITLEMENT: {
    name: 'Entitlement',
    type: 'MULTISELECT',
    fits: (filter) => sql`(e.id::text = ${wanted(filter)} or e.external_id = ${wanted(filter)}
      or p.entitlement_id is null and exists (select from association_spans h
        join entitlements x on x.id = h.entitlement_id where h.account_id = a.account_id and h.until is null
          and (x.id::text = ${wanted(filter)} or x.external_id = ${wanted(filter)})))`,
    options: (appId) => sql`select e.label, e.id::text as value from entitlements e
      where e.app_id = ${appId} and e.gone_at is null`,
  },
  EMPLOYMENT_STATUS: {
    name: 'State of the person',
    type: 'MULTISELECT',
    fits: (filter) => sql`u.status = ${wanted(filter)}`,
    options: () => sql`select one as label, one as value
      from unnest(array['STAGED', 'ACTIVE', 'SUSPENDED', 'INACTIVE']) one`,
  },
  EMAIL_DOMAIN: {
    name: 'Domain of the address',
    type: 'MULTISELECT',
    fits: (filter) => sql`lower(split_part(a.email, '@', 2)) = lower(${wanted(filter)})`,
    options: (appId) => sql`select distinct lower(split_part(a.email, '@', 2)) as label,
      lower(split_part(a.email, '@', 2)) as value from ${accountsOf(appId)} and a.email like '%@%'`,
  },
  ACCOUNT_STATUS: {
    name: 'State of the account',
    type: 'MULTISELECT',
    fits: (filter) => sql`coalesce(a.status, '') = ${wanted(filter)}`,
    options: (appId) => sql`select distinct a.status as label, a.status as value
      from ${accountsOf(appId)} and a.status is not null`,
  },
  ACCOUNT_SOURCE: {
    name: 'Source of the account',
    type: 'MULTISELECT',
    fits: (filter) => sql`${wanted(filter)} = any(n.sources)`,
    options: (appId) => sql`select distinct one as label, one as value
      from accounts n, unnest(n.sources) one where n.app_id = ${appId} and n.gone_at is null`,
  },
  USER_OR_GROUP: {
    name: 'Person or group',
    type: 'USER',
    fits: (filter) => sql`(a.user_id::text = lower(${wanted(filter)}) or exists (
      select from group_members m where m.user_id = a.user_id and m.group_id::text = lower(${wanted(filter)})))`,
    options: (appId) => sql`select u.email as label, u.id::text as value from users u
      where u.id in (select a.user_id from ${accountsOf(appId)})`,
  },
  UNMATCHED_ACCOUNTS: {
    name: 'Accounts of nobody who is known',
    type: 'SINGLESELECT',
    fits: () => sql`a.user_id is null`,
    options: () => sql`select 'Unmatched' as label, 'UNMATCHED' as value`,
  },
  CUSTOM_ATTRIBUTE: {
    name: 'Attribute of the person',
    type: 'STRING',
    fits: (filter) =>
      'name' in filter
        ? sql`coalesce(u.custom_attributes -> ${filter.name}::text ->> 'value', '') = ${filter.value ?? ''}`
        : sql`false`,
    options: null,
  },
  LAST_LOGIN: {
    name: 'Last login',
    type: 'DATETIME',
    fits: between(sql`n.last_login`),
    options: null,
  },
  LAST_ACTIVITY: {
    name: 'Last activity',
    type: 'DATETIME',
    fits: between(sql`n.last_activity`),
    options: null,
  },
}

/** Filters by their groups, in the order in which they come: of a group one must fit. */
export function scopeGroups(filters: readonly ScopeFilter[]): { group: string; fits: SQL }[] {
  const groups = [...new Set(filters.map(({ group }) => group))]
  return groups.map((group) => {
    const any = filters
      .filter((one) => one.group === group)
      .map((one) => SCOPES[group]?.fits(one) ?? sql`false`)
    return { group, fits: sql`(${sql.join(any, sql` or `)})` }
  })
}

/** Why filters cannot be used; null where they can */
export function scopeFault(filters: readonly ScopeFilter[] | null | undefined): string | null {
  const odd = filters?.find(({ group }) => SCOPES[group] === undefined)
  if (!odd) return null
  return `the filter ${odd.group} is not known here; there are ${Object.keys(SCOPES).join(', ')}`
}

/** The words of an entry of `errors`. */
export const appError = (app_id: string, error: string): ReviewAppError => ({ app_id, error })
