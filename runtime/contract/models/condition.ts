/**
 * Conditions of access policies, which select the people who get the access (core-interface.md section 1.17).
 * A condition is an attribute with operators that must all hold, or `and`, `or`, `not` of conditions.
 */

import { isKeyOf } from '../schema/keys.ts'
import { isRecord, membersOf } from '../schema/record.ts'

export type Scalar = string | number | boolean | null
/** A scalar, alone or with a label. */
export type Operand = Scalar | { label?: string; value: Scalar }

export type Condition =
  | { and: Condition[] }
  | { or: Condition[] }
  | { not: Condition }
  | { lumos_expression: string }
  | ({ attribute: string | { label?: string; value: string } } & Partial<
      Record<OperatorName, Operand | Operand[]>
    >)

/** Operands that an operator takes. */
type Takes = 'one' | 'many' | 'one or many' | 'boolean'

/** Operators by their name on the wire. */
export const OPERATORS = {
  equals: { takes: 'one', meaning: 'equals the value' },
  '!=': { takes: 'one', meaning: 'does not equal the value, or is absent' },
  '>': { takes: 'one', meaning: 'is greater, or later' },
  '>=': { takes: 'one', meaning: 'is equal, greater, or later' },
  '<': { takes: 'one', meaning: 'is less, or earlier' },
  '<=': { takes: 'one', meaning: 'is equal, less, or earlier' },
  in: {
    takes: 'one or many',
    meaning: 'is one of the values; for a single string, is a part of it',
  },
  contains: { takes: 'one', meaning: 'contains the value, as a part or a member' },
  contains_any: { takes: 'many', meaning: 'contains one of the values, as a part or a member' },
  starts_with: { takes: 'one', meaning: 'starts with the value' },
  ends_with: { takes: 'one', meaning: 'ends with the value' },
  exists: { takes: 'boolean', meaning: 'is present (true), or absent (false)' },
} as const satisfies Record<string, { takes: Takes; meaning: string }>
export type OperatorName = keyof typeof OPERATORS

/** Built-in attributes of a person, such as `identity.email`. Any other name is a custom attribute. */
export const IDENTITY_MEMBERS = [
  'email',
  'given_name',
  'family_name',
  'name',
  'status',
  'manager_id',
  'id',
] as const

/** Limits of one condition. */
const CONDITION_LIMITS = { maxDepth: 20, maxNodes: 1000, maxOperands: 1000, maxText: 1000 }

const NODES = ['and', 'or', 'not', 'lumos_expression'] as const

/** Returns what is wrong with a condition and where, or null. Unknown members are refused. */
export function conditionFault(value: unknown): string | null {
  let nodes = 0
  const { maxDepth, maxNodes } = CONDITION_LIMITS

  function fault(one: unknown, at: string, depth: number): string | null {
    nodes += 1
    if (nodes > maxNodes) return `${at}: more than ${maxNodes} conditions`
    if (depth > maxDepth) return `${at}: conditions are nested deeper than ${maxDepth}`
    if (!isRecord(one) || Array.isArray(one)) return `${at}: a condition is an object`
    const members = Object.keys(one)
    const node = NODES.find((name) => Object.hasOwn(one, name))
    if (node === undefined) return attributeFault(one, at)
    if (members.length > 1)
      return `${at}: ${node} stands alone; found ${members.filter((name) => name !== node).join(', ')} beside it`
    const inner = one[node]
    if (node === 'lumos_expression') return textFault(inner, `${at}.${node}`)
    if (node === 'not') return fault(inner, `${at}.not`, depth + 1)
    if (!Array.isArray(inner) || inner.length === 0)
      return `${at}.${node}: a list of one condition or more`
    for (const [index, part] of inner.entries()) {
      const found = fault(part, `${at}.${node}[${index}]`, depth + 1)
      if (found !== null) return found
    }
    return null
  }

  return fault(value, 'access_condition', 1)
}

function attributeFault(one: Record<string, unknown>, at: string): string | null {
  const { attribute, ...operators } = one
  const named = typeof attribute === 'object' && attribute !== null
  const path = named ? membersOf(attribute)['value'] : attribute
  if (path === undefined)
    return `${at}: needs attribute, and, or, not; found ${Object.keys(one).join(', ') || 'nothing'}`
  const wrong = textFault(path, `${at}.attribute`)
  if (wrong !== null) return wrong
  const names = Object.keys(operators)
  const unknown = names.find((name) => !isKeyOf(OPERATORS, name))
  if (unknown !== undefined)
    return `${at}: there is no operator ${JSON.stringify(unknown.slice(0, 50))}; there are ${Object.keys(OPERATORS).join(', ')}`
  if (names.length === 0) return `${at}: an operator is missing`
  for (const name of names.filter((one) => isKeyOf(OPERATORS, one))) {
    const found = operandFault(operators[name], OPERATORS[name].takes, `${at}.${name}`)
    if (found !== null) return found
  }
  return null
}

function operandFault(operand: unknown, takes: Takes, at: string): string | null {
  if (takes === 'boolean') return typeof operand === 'boolean' ? null : `${at}: true or false`
  if (Array.isArray(operand)) {
    if (takes === 'one') return `${at}: one value, not a list`
    if (operand.length > CONDITION_LIMITS.maxOperands)
      return `${at}: more than ${CONDITION_LIMITS.maxOperands} values`
    for (const [index, one] of operand.entries()) {
      const found = scalarFault(one, `${at}[${index}]`)
      if (found !== null) return found
    }
    return null
  }
  return takes === 'many' ? `${at}: a list of values` : scalarFault(operand, at)
}

function scalarFault(operand: unknown, at: string): string | null {
  const labelled = typeof operand === 'object' && operand !== null && !Array.isArray(operand)
  const unknown = labelled
    ? Object.keys(operand).find((name) => name !== 'label' && name !== 'value')
    : undefined
  if (unknown !== undefined) return `${at}: there is no ${unknown}; write label and value`
  const value = labelled ? membersOf(operand)['value'] : operand
  if (typeof value === 'string') return textFault(value, at)
  const fits = value === null || typeof value === 'boolean' || Number.isFinite(value)
  return fits ? null : `${at}: a text, a number, true, false or null`
}

function textFault(value: unknown, at: string): string | null {
  if (typeof value !== 'string') return `${at}: a text`
  return value.length <= CONDITION_LIMITS.maxText
    ? null
    : `${at}: longer than ${CONDITION_LIMITS.maxText} characters`
}

/** Returns the distinct attribute paths of a condition. */
export function attributesIn(condition: Condition | null): string[] {
  if (condition === null) return []
  const inner = 'and' in condition ? condition.and : 'or' in condition ? condition.or : undefined
  if (inner !== undefined) return [...new Set(inner.flatMap(attributesIn))]
  if ('not' in condition) return attributesIn(condition.not)
  return 'attribute' in condition ? [attributePath(condition)] : []
}

/** Returns the attribute path of a condition. */
export const attributePath = ({ attribute }: Extract<Condition, { attribute: unknown }>): string =>
  typeof attribute === 'string' ? attribute : attribute.value

/**
 * Reports whether a condition contains an expression in the public service's own language, which cannot be
 * evaluated here.
 */
export function hasExpression(condition: Condition): boolean {
  if ('and' in condition) return condition.and.some(hasExpression)
  if ('or' in condition) return condition.or.some(hasExpression)
  if ('not' in condition) return hasExpression(condition.not)
  return 'lumos_expression' in condition
}
