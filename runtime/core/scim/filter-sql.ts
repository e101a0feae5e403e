/** Translates a filter into an SQL condition, using a table of the attributes that can be queried. */
import { type SQL, sql } from 'drizzle-orm'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import type { Filter, FilterOperator, FilterValue } from './filter.ts'
import { ScimError } from './problem.ts'

/** How an attribute is queried. */
export type ScimColumn =
  | {
      kind: 'text'
      value: SQL
      /** Whether comparison is case-sensitive. */
      exact?: boolean
      /** Condition for equality with a text that uses an index. */
      equals?: (text: string) => SQL
    }
  | { kind: 'boolean'; value: SQL }
  | { kind: 'moment'; value: SQL }
  /** Id of another resource, which supports only equality. */
  | { kind: 'reference'; equals: (text: string) => SQL }
  /** Multi-valued attribute: a condition on one of its values. */
  | { kind: 'some'; holds: (inner: Filter) => SQL }

/**
 * Returns the column of a path, which is in lower case and without the schema. Undefined if it cannot be
 * queried.
 */
type Columns = (path: string) => ScimColumn | undefined

/**
 * Translates a filter.
 *
 * @throws ScimError `invalidFilter` for an unknown path, or a comparison that it does not support
 */
export function filterSql(filter: Filter, columns: Columns): SQL {
  switch (filter.kind) {
    case 'and':
      return sql`(${filterSql(filter.left, columns)} and ${filterSql(filter.right, columns)})`
    case 'or':
      return sql`(${filterSql(filter.left, columns)} or ${filterSql(filter.right, columns)})`
    case 'not':
      return sql`not coalesce(${filterSql(filter.inner, columns)}, false)`
    case 'within': {
      const column = columnOf(columns, filter.path)
      if (column.kind !== 'some') throw refused(`${filter.path} has no parts to filter by`)
      return column.holds(filter.inner)
    }
    case 'present': {
      const column = columnOf(columns, filter.path)
      if (column.kind === 'some') return column.holds({ kind: 'present', path: 'value' })
      if (column.kind === 'reference') throw refused(`${filter.path} cannot be tested with pr`)
      return column.kind === 'text'
        ? sql`coalesce(${column.value}, '') <> ''`
        : sql`${column.value} is not null`
    }
    case 'compare':
      return comparison(columnOf(columns, filter.path), filter)
  }
}

function columnOf(columns: Columns, path: string): ScimColumn {
  const column = columns(path.toLowerCase())
  if (column) return column
  throw refused(`${path.slice(0, 100)} cannot be filtered by here`)
}

const refused = (detail: string) =>
  new ScimError('bad_request', 'invalidFilter', `The filter: ${detail}`)

type Comparison = Extract<Filter, { kind: 'compare' }>

function comparison(column: ScimColumn, { path, operator, value }: Comparison): SQL {
  if (column.kind === 'some')
    return column.holds({ kind: 'compare', path: 'value', operator, value })
  if (column.kind === 'reference') {
    if (operator !== 'eq') throw refused(`${path} is compared by eq`)
    return column.equals(String(value))
  }
  if (column.kind === 'boolean') return booleanComparison(column.value, path, operator, value)
  if (column.kind === 'moment') return momentComparison(column.value, path, operator, value)
  if (value === null) {
    if (operator === 'eq') return sql`coalesce(${column.value}, '') = ''`
    if (operator === 'ne') return sql`coalesce(${column.value}, '') <> ''`
  }
  const text = String(value)
  if (operator === 'eq' && column.equals) return column.equals(text)
  return column.exact
    ? textComparison(column.value, operator, sql`${text}::text`)
    : textComparison(sql`lower(${column.value})`, operator, sql`lower(${text}::text)`)
}

const SIGNS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const

function textComparison(found: SQL, operator: FilterOperator, text: SQL): SQL {
  switch (operator) {
    case 'eq':
      return sql`${found} = ${text}`
    case 'ne':
      return sql`${found} is distinct from ${text}`
    case 'co':
      return sql`position(${text} in ${found}) > 0`
    case 'sw':
      return sql`starts_with(${found}, ${text})`
    case 'ew':
      return sql`right(${found}, length(${text})) = ${text}`
    default:
      return sql`${found} collate "C" ${sql.raw(SIGNS[operator])} ${text} collate "C"`
  }
}

function booleanComparison(
  found: SQL,
  path: string,
  operator: FilterOperator,
  value: FilterValue,
): SQL {
  const word = String(value).toLowerCase()
  if ((operator !== 'eq' && operator !== 'ne') || (word !== 'true' && word !== 'false'))
    throw refused(`${path} is compared by eq or ne with true or false`)
  return (word === 'true') === (operator === 'eq') ? sql`${found}` : sql`not ${found}`
}

function momentComparison(
  found: SQL,
  path: string,
  operator: FilterOperator,
  value: FilterValue,
): SQL {
  const at = typeof value === 'string' && /^\d{4}-/.test(value) ? parseDatetime(value) : null
  const sign = { eq: '=', ne: '<>', ...SIGNS, co: null, sw: null, ew: null }[operator]
  if (at === null || sign === null)
    throw refused(`${path} is compared with a date and time such as "2026-01-31T12:00:00Z"`)
  return sql`date_trunc('milliseconds', ${found}) ${sql.raw(sign)} ${at.toISOString()}::timestamptz`
}
