/** Type of a row of SCOPES, and parsing of filter values. */
import { type SQL, sql } from 'drizzle-orm'
import type { ScopeFilter } from '../../contract/models/review-scope.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'

/** Context in which filters are evaluated. */
export type Population = {
  domainId: string
  appId: SQL
  /** Condition that the reason `r` is a reason of the line. */
  given: SQL
  /** Condition that the app `b` of a review belongs to an earlier review. */
  isEarlier: SQL
}

type Option = { label: string; value: string }

/** Row of SCOPES. */
export type ScopeRow = {
  /** Condition that a filter keeps a line. */
  fits(filter: ScopeFilter, of: Population): SQL
  /** Options of the filter: fixed, a query of `label` and `value` for an app, or null for free text. */
  options: readonly Option[] | ((appId: string, domainId: string) => SQL) | null
  /** Returns why a value is invalid, or null. Without it, any value is valid. */
  fault?(value: string): string | null
}

/** Returns the value that a filter compares with. */
export const wanted = (filter: ScopeFilter): string =>
  'name' in filter ? (filter.value ?? filter.name) : ''

/** Returns options whose labels are the values themselves. */
export const plain = (values: readonly string[]): Option[] =>
  values.map((value) => ({ label: value, value }))

/** Returns a check that a value is one of some values. */
export const faultUnlessOneOf =
  (values: readonly string[]) =>
  (value: string): string | null =>
    values.includes(value) ? null : `must be one of ${values.join(', ')}`

type Ends = { after: SQL | null; before: SQL | null }

const at = (moment: Date): SQL => sql`${moment.toISOString()}::timestamptz`

/** Parses `A/B`, `A/..`, `../B` or `P90D`. Returns null for other texts. Times without a zone are UTC. */
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

/** Condition that a time lies between two ends, inclusive. */
const isWithin = (moment: SQL, { after, before }: Ends): SQL =>
  sql`(${moment} is not null ${after ? sql`and ${moment} >= ${after}` : sql``}
    ${before ? sql`and ${moment} <= ${before}` : sql``})`

/** Returns a filter by a single time value. `fits` receives a function that makes the condition on a time. */
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

/** Returns a filter whose two ends are separate members. */
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
