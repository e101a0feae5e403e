/** Scope filters of an app of a review: combining them into conditions, and validating them. */
import { type SQL, sql } from 'drizzle-orm'
import type { ReviewAppError } from '../../contract/models/access-review.ts'
import type { ScopeFilter } from '../../contract/models/review-scope.ts'
import { type Population, wanted } from './scope-row.ts'
import { SCOPES } from './scope-table.ts'

/** Returns one condition per group of filters, in order of the groups. One filter of a group must match. */
export function scopeGroups(
  filters: readonly ScopeFilter[],
  of: Population,
): { group: string; fits: SQL }[] {
  const groups = [...new Set(filters.map(({ group }) => group))]
  return groups.map((group) => {
    const any = filters
      .filter((one) => one.group === group)
      .map((one) => sql`(${SCOPES[group].fits(one, of)})`)
    return { group, fits: sql`(${sql.join(any, sql` or `)})` }
  })
}

/** Returns why filters are invalid, or null. */
export function scopeFault(filters: readonly ScopeFilter[] | null | undefined): string | null {
  for (const filter of filters ?? []) {
    const fault = SCOPES[filter.group].fault?.(wanted(filter)) ?? null
    if (fault !== null)
      return `the value ${JSON.stringify(wanted(filter))} of the filter ${filter.group} ${fault}`
  }
  return null
}

/** Returns an entry of `errors`. */
export const appError = (app_id: string, error: string): ReviewAppError => ({ app_id, error })
