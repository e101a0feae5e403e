/** Evaluates a condition for a person. Pure: the person's values are read beforehand. */

import {
  attributePath,
  type Condition,
  type Operand,
  type OperatorName,
  type Scalar,
} from '../../contract/models/condition.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import { entriesOf } from '../../contract/schema/keys.ts'

/** Values of a person that a condition may use: members of `identity`, and custom attributes by name. */
export type ConditionSubject = {
  members: Readonly<Record<string, Scalar | readonly Scalar[]>>
  customAttributes: Readonly<Record<string, Scalar | readonly Scalar[]>>
}

type Found = Scalar | readonly Scalar[] | undefined

/**
 * Reports whether a condition is true for a person. For a missing attribute, only `!=` and `exists: false`
 * are true.
 *
 * @throws Error for an expression, which cannot be evaluated here. Policies with one are never in force.
 */
export function holds(condition: Condition, identity: ConditionSubject): boolean {
  if ('and' in condition) return condition.and.every((one) => holds(one, identity))
  if ('or' in condition) return condition.or.some((one) => holds(one, identity))
  if ('not' in condition) return !holds(condition.not, identity)
  if ('lumos_expression' in condition) throw new Error('a lumos_expression cannot be evaluated')
  const { attribute: _, ...operators } = condition
  const found = attributeOf(attributePath(condition), identity)
  return entriesOf<Partial<Record<OperatorName, Operand | Operand[]>>>(operators).every(
    ([name, operand]) => operand === undefined || HOLDS[name](found, valuesOf(operand), operand),
  )
}

/**
 * Returns the value of `identity.title` or `identity.custom_attributes["Department"]`. A member that is not
 * one of ours is looked up among the custom attributes, without regard to case.
 */
export function attributeOf(path: string, { members, customAttributes }: ConditionSubject): Found {
  const quoted = /^identity\.custom_attributes\[(?:"([^"]*)"|'([^']*)')\]$/.exec(path)
  if (quoted) return own(customAttributes, quoted[1] ?? quoted[2] ?? '')
  const [, name = path] = /^identity\.(?:custom_attributes\.)?(.+)$/.exec(path) ?? []
  if (Object.hasOwn(members, name)) return members[name]
  const wanted = name.toLowerCase()
  const key = Object.keys(customAttributes).find((one) => one.toLowerCase() === wanted)
  return key === undefined ? undefined : customAttributes[key]
}

const own = (record: ConditionSubject['customAttributes'], name: string): Found =>
  Object.hasOwn(record, name) ? record[name] : undefined

const valuesOf = (operand: Operand | Operand[]): Scalar[] =>
  [operand].flat().map((one) => (typeof one === 'object' && one !== null ? one.value : one))

type Holds = (found: Found, values: readonly Scalar[], operand: Operand | Operand[]) => boolean

const isThere = (found: Found): boolean => found !== undefined && found !== null

const isList = (found: Found): found is readonly Scalar[] => Array.isArray(found)

/** Returns the members of a list, or the single value. */
const each = (found: Found): readonly Scalar[] =>
  found === undefined ? [] : isList(found) ? found : [found]

const HOLDS: Record<OperatorName, Holds> = {
  equals: (found, [value]) => each(found).some((one) => same(one, value)),
  '!=': (found, [value]) => !each(found).some((one) => same(one, value)),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  in: (found, values, operand) =>
    typeof unlabelled(operand) === 'string'
      ? each(found).some((one) => isThere(one) && String(values[0]).includes(String(one)))
      : each(found).some((one) => values.some((value) => same(one, value))),
  contains: (found, [value]) => contains(found, value),
  contains_any: (found, values) => values.some((value) => contains(found, value)),
  starts_with: (found, [value]) => texts(found).some((one) => one.startsWith(String(value))),
  ends_with: (found, [value]) => texts(found).some((one) => one.endsWith(String(value))),
  exists: (found, [value]) => isThere(found) === value,
}

const unlabelled = (operand: Operand | Operand[]): unknown =>
  typeof operand === 'object' && operand !== null && !Array.isArray(operand)
    ? operand.value
    : operand

const texts = (found: Found): string[] =>
  each(found).flatMap((one) => (typeof one === 'string' ? [one] : []))

/** Matches a part of a text, or a member of a list. */
function contains(found: Found, value: Scalar | undefined): boolean {
  if (Array.isArray(found)) return found.some((one) => same(one, value))
  return typeof found === 'string' && value !== null && found.includes(String(value))
}

/** Compares two values. A number equals its text form. */
function same(one: Scalar, other: Scalar | undefined): boolean {
  if (one === other) return true
  if (typeof one === typeof other || one === null || other === null || other === undefined)
    return false
  return String(one) === String(other)
}

function ordered(fits: (order: number) => boolean): Holds {
  return (found, [value]) =>
    each(found).some((one) => {
      const order = compare(one, value)
      return order !== null && fits(order)
    })
}

/**
 * Compares numbers by size, timestamps by time, and other text by its characters. Null if the kinds differ.
 */
function compare(one: Scalar, other: Scalar | undefined): number | null {
  const [a, b] = [numberOf(one), numberOf(other)]
  if (a !== null && b !== null) return a - b
  if (typeof one !== 'string' || typeof other !== 'string') return null
  const [earlier, later] = [momentOf(one), momentOf(other)]
  if (earlier !== null && later !== null) return earlier - later
  return one < other ? -1 : one > other ? 1 : 0
}

function numberOf(value: Scalar | undefined): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null
}

/** Returns the time of a date, in milliseconds. Without a zone it is in UTC, so that all hosts agree. */
const momentOf = (text: string): number | null =>
  /^\d{4}-\d{2}-\d{2}([T ]|$)/.test(text) ? (parseDatetime(text)?.getTime() ?? null) : null
