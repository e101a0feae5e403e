/** A policy as its form holds it: pure. What the form cannot show in rows stays a text, so that nothing is lost. */
import type { AccessPolicyOutput } from '../../contract/models/access-policy.ts'
import { IDENTITY_MEMBERS, OPERATORS, type OperatorName } from '../../contract/models/condition.ts'
import { isKeyOf, keysOf } from '../../contract/schema/keys.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { isRecord } from '../../contract/schema/record.ts'
import type { Form } from '../frame/form.ts'

/** One line of a condition. */
type Line = { attribute: string; operator: OperatorName; value: string }

/** WHO: how a policy says who it is for. */
export const WHO = ['all', 'any', 'everyone', 'text'] as const
type Who = (typeof WHO)[number]

/** STATES: whether a policy gives anything. */
export const STATES = ['draft', 'in_force', 'off'] as const
type State = (typeof STATES)[number]

export type Draft = {
  name: string
  why: string
  state: State
  who: Who
  lines: Line[]
  /** The condition as JSON, where `who` is `text`. */
  text: string
  /** Apps, each as its id, and permissions as the app's id, a slash and theirs. */
  gives: string[]
  /** Apps whose things nobody is asked for. */
  preapproved: string[]
}

/** Most lines of a condition, and most things that a policy gives, in the form. */
export const MOST_LINES = 50
const MOST_THINGS = 200

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

/** The other way round; what has no short name keeps its whole path. */
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

/** A line of a condition, or null for what a line cannot hold. */
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
  // A text alone asks for a part of it, which a list of one does not.
  if (!isBoolean && (!isText || isMany !== Array.isArray(operand))) return null
  return { attribute: nameOfAttribute(attribute), operator, value: values.join(', ') }
}

function linesOf(condition: Record<string, unknown>): Pick<Draft, 'who' | 'lines'> | null {
  const [name, ...others] = keysOf(condition)
  const isList = others.length === 0 && (name === 'and' || name === 'or')
  const parts = isList ? condition[name] : [condition]
  if (!Array.isArray(parts) || parts.length > MOST_LINES) return null
  const lines = parts.map(lineOf)
  if (lines.some((one) => one === null)) return null
  return {
    who: name === 'or' ? 'any' : 'all',
    lines: lines.flatMap((one) => (one === null ? [] : [one])),
  }
}

const stateOf = ({ status, is_enabled }: AccessPolicyOutput): State =>
  status === 'DRAFT' ? 'draft' : is_enabled ? 'in_force' : 'off'

/** A policy as its form shows it first. */
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

/** All values of `name.0`, `name.1` and so on, in their order. */
const listIn = (form: Form, name: string): string[] =>
  [...form]
    .filter(([key]) => key.startsWith(`${name}.`) && /^\d{1,4}$/.test(key.slice(name.length + 1)))
    .map(([, value]) => value)

/** What was typed. */
export function draftIn(form: Form): Draft {
  const get = (name: string): string => form.get(name)?.trim() ?? ''
  const lines: Line[] = []
  for (let at = 0; at < MOST_LINES && form.has(`attribute.${at}`); at += 1) {
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
    gives: [...new Set(listIn(form, 'give'))].slice(0, MOST_THINGS),
    preapproved: [...new Set(listIn(form, 'pre'))].slice(0, MOST_THINGS),
  }
}

/** The body that the API would be sent; lines that were left empty are left out. */
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

/** @throws SyntaxError for a text that is no JSON */
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
