/** What a row of SCOPES is, and how the value of a filter is read. */
import { type SQL, sql } from 'drizzle-orm'
import type { ScopeFilter } from '../../contract/models/review-scope.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'

/** The population that filters are asked about. */
export type Population = {
  domainId: string
  appId: SQL
  /** The condition that the reason `r` is one of the line. */
  given: SQL
  /** The condition that the app `b` of a review is an earlier one. */
  isEarlier: SQL
}

type Option = { label: string; value: string }

export type ScopeRow = {
  /** Keeps what the filter fits. */
  fits(filter: ScopeFilter, of: Population): SQL
  /** What the filter can be: always the same, `label` and `value` for an app, or null where anything can be written. */
  options: readonly Option[] | ((appId: string, domainId: string) => SQL) | null
  /** Why a value cannot be used; null where it can. Absent: any can. */
  fault?(value: string): string | null
}

/** What a filter is compared with. */
export const wanted = (filter: ScopeFilter): string =>
  'name' in filter ? (filter.value ?? filter.name) : ''

/** Options of values that say themselves what they are. */
export const plain = (values: readonly string[]): Option[] =>
  values.map((value) => ({ label: value, value }))

/** The fault of a value that is none of some. */
export const faultUnlessOneOf =
  (values: readonly string[]) =>
  (value: string): string | null =>
    values.includes(value) ? null : `must be one of ${values.join(', ')}`

type Ends = { after: SQL | null; before: SQL | null }

const at = (moment: Date): SQL => sql`${moment.toISOString()}::timestamptz`

/** The ends of `A/B`, `A/..`, `../B` or `P90D`; null for what is none of these. Times without a zone are UTC. */
function endsOf(value: string): Ends | null {
  const days = /^P([0-9]{1,5})D$/.exec(value)?.[1]
  if (days !== undefined)
    return { after: sql`now() - make_interval(days => ${Number(days)}::int)`, before: null }
  const [from, to, ...more] = value.split('/')
  if (from === undefined || to === undefined || more.length > 0) return null
  const [after, before] = [parseDatetime(from), parseDatetime(to)]
  if ((after === null && from !== '..') || (before === null && to !== '..')) return null
  if (after === null && before === null) return null
  return { after: after && at(after), before: before && at(before) }
}

/** The condition that a moment lies between two ends, both of which count. */
const isWithin = (moment: SQL, { after, before }: Ends): SQL =>
  sql`(${moment} is not null ${after ? sql`and ${moment} >= ${after}` : sql``}
    ${before ? sql`and ${moment} <= ${before}` : sql``})`

/** Filters by a time that is one value: `fits` gets the condition on a moment. */
export const timed = (fits: (holds: (moment: SQL) => SQL, of: Population) => SQL): ScopeRow => ({
  fits(filter, of) {
    const ends = endsOf(wanted(filter))
    return ends === null ? sql`false` : fits((moment) => isWithin(moment, ends), of)
  },
  options: [7, 30, 90, 365].map((days) => ({
    label: `In the last ${days} days`,
    value: `P${days}D`,
  })),
  fault: (value) =>
    endsOf(value) === null
      ? 'must be a time such as 2026-01-01/2026-03-31, 2026-01-01/.., ../2026-03-31 or P90D'
      : null,
})

/** Filters with two ends of their own. */
export const between = (moment: SQL): ScopeRow => ({
  fits(filter) {
    if ('name' in filter) return sql`false`
    const [after, before] = [filter.after, filter.before].map((text) => {
      const read = text === undefined ? null : parseDatetime(text)
      return read && at(read)
    })
    return isWithin(moment, { after: after ?? null, before: before ?? null })
  },
  options: null,
})
