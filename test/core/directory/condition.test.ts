import { expect, test } from 'vitest'
import {
  type Condition,
  conditionFault,
  hasExpression,
} from '../../../runtime/contract/models/condition.ts'
import { type ConditionSubject, holds } from '../../../runtime/core/directory/condition.ts'
import { inTimeZone } from '../../kit/time-zone.ts'

const ada: ConditionSubject = {
  members: {
    email: 'ada@example.com',
    status: 'ACTIVE',
    title: null,
    groups: ['Sales', 'Everybody'],
  },
  customAttributes: {
    Department: 'Sales EMEA',
    Level: 7,
    'Start Date': '2026-03-01',
    Cost: '42.5',
    Remote: true,
  },
}
const at = (attribute: string, operators: object): Condition =>
  ({ attribute, ...operators }) as Condition
const department = 'identity.custom_attributes["Department"]'
const level = 'identity.custom_attributes["Level"]'
const start = 'identity.custom_attributes["Start Date"]'

const CASES: [Condition, boolean][] = [
  [at('identity.email', { equals: 'ada@example.com' }), true],
  [at('identity.email', { equals: 'Ada@example.com' }), false],
  [at('identity.email', { equals: { label: 'Ada', value: 'ada@example.com' } }), true],
  [{ attribute: { label: 'E-mail', value: 'identity.email' }, equals: 'ada@example.com' }, true],
  [at('identity.email', { '!=': 'ben@example.com' }), true],
  [at(department, { equals: 'Sales EMEA' }), true],
  [at("identity.custom_attributes['Department']", { equals: 'Sales EMEA' }), true],
  [at('identity.department', { equals: 'Sales EMEA' }), true],
  [at('department', { starts_with: 'Sales' }), true],
  [at(department, { ends_with: 'EMEA' }), true],
  [at(department, { ends_with: 'emea' }), false],
  [at(department, { contains: 'es E' }), true],
  [at(department, { contains_any: ['X', 'EMEA'] }), true],
  [at(department, { contains_any: ['X', 'Y'] }), false],
  [at(department, { in: ['Sales EMEA', 'Sales APAC'] }), true],
  [at(department, { in: [{ value: 'Sales EMEA' }] }), true],
  [at(department, { in: 'all of Sales EMEA and more' }), true],
  [at(department, { in: 'Sales' }), false],
  [at(level, { '>': 6 }), true],
  [at(level, { '>': '6' }), true],
  [at(level, { '>=': 7, '<': 8 }), true],
  [at(level, { '>=': 7, '<': 7 }), false],
  [at(level, { '<=': 6 }), false],
  [at(level, { equals: '7' }), true],
  [at('identity.cost', { '>': 42 }), true],
  [at(start, { '>': '2026-02-28' }), true],
  [at(start, { '<': '2026-02-28T00:00:00Z' }), false],
  [at(start, { '>': 5 }), false],
  [at('identity.remote', { equals: true }), true],
  [at('identity.groups', { contains: 'Sales' }), true],
  [at('identity.groups', { contains: 'Sal' }), false],
  [at('identity.groups', { equals: 'Everybody' }), true],
  [at('identity.groups', { '!=': 'Everybody' }), false],
  [at('identity.title', { exists: false }), true],
  [at('identity.title', { exists: true }), false],
  [at('identity.title', { equals: null }), true],
  [at('identity.nothing', { exists: false }), true],
  [at('identity.nothing', { equals: 'x' }), false],
  [at('identity.nothing', { '!=': 'x' }), true],
  [at('identity.nothing', { in: 'x' }), false],
  [at('identity.nothing', { starts_with: '' }), false],
  [at('identity.constructor', { exists: true }), false],
  [at('identity.custom_attributes["__proto__"]', { exists: true }), false],
  [{ and: [at(level, { '>': 6 }), at(department, { contains: 'Sales' })] }, true],
  [{ and: [at(level, { '>': 6 }), at(department, { contains: 'IT' })] }, false],
  [{ or: [at(level, { '>': 9 }), at(department, { contains: 'Sales' })] }, true],
  [{ not: at(level, { '>': 9 }) }, true],
]

test.each(CASES)('%j evaluates to %s', (condition, expected) => {
  expect(conditionFault(condition)).toBeNull()
  expect(holds(condition, ada)).toBe(expected)
})

const deep = (levels: number): object =>
  levels === 1 ? { attribute: 'a', exists: true } : { not: deep(levels - 1) }

const FAULTS: [unknown, RegExp][] = [
  [null, /access_condition: a condition is an object/],
  [[], /is an object/],
  ['identity.email', /is an object/],
  [{}, /needs attribute, and, or, not; found nothing/],
  [{ equals: 1 }, /needs attribute.*found equals/],
  [{ attribute: 'a' }, /an operator is missing/],
  [{ attribute: 7, equals: 1 }, /attribute: a text/],
  [{ attribute: 'a', is: 1 }, /there is no operator "is"; there are equals/],
  [{ attribute: 'a', equals: [1] }, /equals: one value, not a list/],
  [{ attribute: 'a', equals: {} }, /equals: a text, a number/],
  [{ attribute: 'a', equals: { value: 1, more: 2 } }, /there is no more; write label and value/],
  [{ attribute: 'a', contains_any: 'x' }, /contains_any: a list/],
  [{ attribute: 'a', in: [[1]] }, /in\[0\]: a text/],
  [{ attribute: 'a', exists: 'yes' }, /exists: true or false/],
  [{ and: [] }, /and: a list of one condition or more/],
  [{ and: [{ attribute: 'a', exists: true }], or: [] }, /and stands alone; found or/],
  [{ or: [{ attribute: 'a', exists: true }, 7] }, /or\[1\]: a condition is an object/],
  [deep(21), /nested deeper than 20/],
  [
    { or: Array.from({ length: 1001 }, () => ({ attribute: 'a', exists: true })) },
    /more than 1000/,
  ],
  [{ attribute: 'x'.repeat(1001), exists: true }, /longer than 1000/],
]

test.each(FAULTS)('%j is refused with the path of the error', (condition, words) => {
  expect(conditionFault(condition)).toMatch(words)
})

test('a condition of twenty levels is accepted, and expressions are found at any level', () => {
  expect(conditionFault(deep(20))).toBeNull()
  expect(hasExpression(deep(20) as Condition)).toBe(false)
  const condition: Condition = {
    or: [at('a', { exists: true }), { not: { lumos_expression: 'x' } }],
  }
  expect(conditionFault(condition)).toBeNull()
  expect(hasExpression(condition)).toBe(true)
})

test.each(['UTC', 'America/New_York', 'Asia/Tokyo'])(
  'a time without a zone is in UTC on a host in %s',
  (zone) => {
    const joined = { ...ada, customAttributes: { 'Start Date': '2026-03-01T01:00:00' } }
    const same = at(start, { '>=': '2026-03-01T01:00:00Z', '<=': '2026-03-01T03:00:00+02:00' })
    expect(inTimeZone(zone, () => holds(same, joined))).toBe(true)
  },
)
