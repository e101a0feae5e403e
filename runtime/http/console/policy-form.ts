/**
 * A policy as its form holds it. Pure functions. A condition that the form cannot show in rows stays a text,
 * so that nothing is lost.
 */
import type { AccessPolicyOutput } from '../../contract/models/access-policy.ts'
import { IDENTITY_MEMBERS, OPERATORS, type OperatorName } from '../../contract/models/condition.ts'
import { isKeyOf, keysOf } from '../../contract/schema/keys.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { isRecord } from '../../contract/schema/record.ts'
import type { Form } from '../frame/form.ts'

/** One row of a condition. */
type Line = { attribute: string; operator: OperatorName; value: string }

/** WHO: ways to define the people of a policy. */
export const WHO = ['all', 'any', 'everyone', 'text'] as const
type Who = (typeof WHO)[number]

/** STATES: whether a policy is in force. */
export const STATES = ['draft', 'in_force', 'off'] as const
type State = (typeof STATES)[number]

export type Draft = {
  name: string
  why: string
  state: State
  who: Who
  lines: Line[]
  /** Condition as JSON, if `who` is `text`. */
  text: string
  /** Ids of apps, and permissions as `app id/permission id`. */
  gives: string[]
  /** Ids of apps whose access is granted without approval. */
  preapproved: string[]
}

/** Maximum number of rows of a condition, and of apps and permissions, in the form. */
export const MAX_LINES = 50
const MAX_APPS_AND_PERMISSIONS = 200

export const EMPTY_LINE: Line = { attribute: '', operator: 'equals', value: '' }

export const EMPTY: Draft = {
  ...{ name: '', why: '', state: 'draft', who: 'all', text: '', gives: [], preapproved: [] },
  lines: [EMPTY_LINE],
}

/** `email` -> `identity.email`; `Department` -> `identity.custom_attributes["Department"]`. */
function pathOfAttribute(name: string): string {
  if (name.startsWith('identity.')) return name
  if (isOneOf(IDENTITY_MEMBERS, name)) return `identity.${name}`
  const quote = name.includes('"') ? "'" : '"'
  return `identity.custom_attributes[${quote}${name}${quote}]`
}

/** Does the reverse. An attribute without a short name keeps its whole path. */
export function nameOfAttribute(path: string): string {
  const [, double, single] =
    /^identity\.custom_attributes\[(?:"([^"]+)"|'([^']+)')\]$/.exec(path) ?? []
  const short = double ?? single ?? path.replace(/^identity\./, '')
  return pathOfAttribute(short) === path ? short : path
}

const takesMany = (operator: OperatorName): boolean => OPERATORS[operator].takes.includes('many')

function operandOf({ operator, value }: Line): unknown {
  if (OPERATORS[operator].takes === 'boolean') return value !== 'false' && value !== 'no'
  if (!takesMany(operator)) return value
  return value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** Returns a row of a condition, or null if a row cannot represent it. */
function lineOf(one: unknown): Line | null {
  if (!isRecord(one)) return null
  const { attribute, ...rest } = one
  const [found, ...more] = Object.entries(rest)
  if (typeof attribute !== 'string' || !found || more.length > 0) return null
  const [operator, operand] = found
  if (!isKeyOf(OPERATORS, operator)) return null
  const values = Array.isArray(operand) ? operand : [operand]
  const isMany = takesMany(operator)
  const isText = values.every(
    (one) =>
      typeof one === 'string' && one.trim() === one && one !== '' && !(isMany && one.includes(',')),
  )
  const isBoolean = OPERATORS[operator].takes === 'boolean' && typeof operand === 'boolean'
  // A single text matches a part of a value, which a list of one text does not.
  if (!isBoolean && (!isText || isMany !== Array.isArray(operand))) return null
  return { attribute: nameOfAttribute(attribute), operator, value: values.join(', ') }
}

function linesOf(condition: Record<string, unknown>): Pick<Draft, 'who' | 'lines'> | null {
  const [name, ...others] = keysOf(condition)
  const isList = others.length === 0 && (name === 'and' || name === 'or')
  const parts = isList ? condition[name] : [condition]
  if (!Array.isArray(parts) || parts.length > MAX_LINES) return null
  const lines = parts.map(lineOf)
  if (lines.some((one) => one === null)) return null
  return {
    who: name === 'or' ? 'any' : 'all',
    lines: lines.flatMap((one) => (one === null ? [] : [one])),
  }
}

const stateOf = ({ status, is_enabled }: AccessPolicyOutput): State =>
  status === 'DRAFT' ? 'draft' : is_enabled ? 'in_force' : 'off'

/** Returns the initial form of a policy. */
export function draftOf(policy: AccessPolicyOutput): Draft {
  const { name, business_justification: why, apps, access_condition: condition } = policy
  const shown = policy.is_everyone_condition ? null : linesOf(condition)
  return {
    ...{ name, why, state: stateOf(policy) },
    who: policy.is_everyone_condition ? 'everyone' : (shown?.who ?? 'text'),
    lines: shown?.lines ?? [EMPTY_LINE],
    text: shown === null && !policy.is_everyone_condition ? JSON.stringify(condition, null, 1) : '',
    gives: apps.flatMap(({ id, permissions }) =>
      permissions.length === 0 ? [id] : permissions.map((one) => `${id}/${one.id}`),
    ),
    preapproved: apps.filter((one) => one.is_preapproved).map(({ id }) => id),
  }
}

/** Returns all values of `name.0`, `name.1` and so on, in order. */
const listIn = (form: Form, name: string): string[] =>
  [...form]
    .filter(([key]) => key.startsWith(`${name}.`) && /^\d{1,4}$/.test(key.slice(name.length + 1)))
    .map(([, value]) => value)

/** Returns the input of a form. */
export function draftIn(form: Form): Draft {
  const get = (name: string): string => form.get(name)?.trim() ?? ''
  const lines: Line[] = []
  for (let at = 0; at < MAX_LINES && form.has(`attribute.${at}`); at += 1) {
    const operator = get(`operator.${at}`)
    lines.push({
      attribute: get(`attribute.${at}`),
      operator: isKeyOf(OPERATORS, operator) ? operator : 'equals',
      value: get(`value.${at}`),
    })
  }
  return {
    ...{ name: get('name'), why: get('why') },
    state: STATES.find((one) => one === form.get('state')) ?? 'draft',
    who: WHO.find((one) => one === form.get('who')) ?? 'all',
    lines: lines.length === 0 ? [EMPTY_LINE] : lines,
    text: get('text'),
    gives: [...new Set(listIn(form, 'give'))].slice(0, MAX_APPS_AND_PERMISSIONS),
    preapproved: [...new Set(listIn(form, 'pre'))].slice(0, MAX_APPS_AND_PERMISSIONS),
  }
}

/** Returns the body for the API. Empty rows are omitted. */
export function policyBodyOf(draft: Draft): Record<string, unknown> {
  const { name, why, who, gives, preapproved, state } = draft
  const apps = new Map<string, string[]>()
  for (const one of gives) {
    const [app = '', permission] = one.split('/')
    apps.set(app, [...(apps.get(app) ?? []), ...(permission ? [permission] : [])])
  }
  return {
    name,
    business_justification: why,
    status: state === 'draft' ? 'DRAFT' : 'PUBLISHED',
    is_enabled: state === 'in_force',
    apps: [...apps].map(([id, permissions]) => ({
      id,
      is_preapproved: preapproved.includes(id),
      permissions: permissions.map((one) => ({ id: one })),
    })),
    is_everyone_condition: who === 'everyone',
    ...(who === 'everyone' ? {} : { access_condition: conditionOf(draft) }),
  }
}

/** Returns the condition. @throws SyntaxError if its text is not JSON */
function conditionOf({ who, lines, text }: Draft): unknown {
  if (who === 'text') return JSON.parse(text)
  const parts = lines
    .filter(({ attribute, value }) => attribute !== '' || value !== '')
    .map((line) => ({
      attribute: pathOfAttribute(line.attribute),
      [line.operator]: operandOf(line),
    }))
  return { [who === 'any' ? 'or' : 'and']: parts }
}
