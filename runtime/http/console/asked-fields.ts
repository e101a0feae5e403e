/**
 * The fields of a form, read from its markup: what they are called, and what they must hold, stands there alone. What does
 * not fit is said in the language of the page, and the field is marked.
 */
import { html, raw } from 'hono/html'
import { CoreError } from '../../contract/errors/problem.ts'
import { refusalIn } from '../../words/refusals.ts'
import { saidBy } from '../frame/error-page.ts'
import type { Markup } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { FieldFault } from './filled-in.ts'

type AskedField = {
  name: string
  label: Markup
  /** The attributes of its tag, by name; empty for one without a value. */
  rules: ReadonlyMap<string, string>
}

/** What is wrong with a form, and the fields to mark. */
export type FieldsTold = { problem: Markup; names: string[] }

/** The id of the words that say what is wrong. */
const WORDS_ID = 'not-done'
const TAG = /<(?:input|textarea|select)\b([^>]*)>/g
const RULE = /([\w-]+)(?:="([^"]*)")?/g

const rulesOf = (tag: string): Map<string, string> =>
  new Map([...tag.matchAll(RULE)].map(([, name = '', value = '']) => [name, value]))

/** All fields of a form that have a label of their own. */
function fieldsIn(form: Markup): AskedField[] {
  const text = String(form)
  const labels = new Map(
    [...text.matchAll(/<label for="([^"]+)">([^<]*)/g)].map(([, id = '', label = '']) => [
      id,
      label.trim(),
    ]),
  )
  return [...text.matchAll(TAG)].flatMap(([, tag = '']) => {
    const rules = rulesOf(tag)
    const label = labels.get(rules.get('id') ?? '')
    const name = rules.get('name')
    return label === undefined || name === undefined ? [] : [{ name, label: raw(label), rules }]
  })
}

const said = (problem: Markup): Markup => html`<span id="${WORDS_ID}">${problem}</span>`

/** What is wrong with a form as it was sent: all fields that are missing, else the first that is invalid; null for nothing. */
export function wrongIn(t: Tongue, form: Markup, get: (name: string) => string): FieldsTold | null {
  const all = fieldsIn(form)
  const missing = all.filter(({ name, rules }) => rules.has('required') && get(name) === '')
  if (missing.length > 0) {
    const labels = missing.map(({ label }) => String(label)).join('; ')
    return {
      problem: said(raw(`${t.console.connect.fillIn(labels)}.`)),
      names: missing.map(({ name }) => name),
    }
  }
  for (const { name, label, rules } of all) {
    const problem = faultOf(t, rules, get(name).replaceAll('\r\n', '\n'))
    if (problem !== null) return { problem: said(html`${label}: ${problem}.`), names: [name] }
  }
  return null
}

/** Why a text is not valid for its field; null if it is. */
function faultOf({ console: { change: w } }: Tongue, rules: AskedField['rules'], text: string) {
  if (text === '') return null
  const bound = (rule: string, otherwise: number): number =>
    rules.has(rule) ? Number(rules.get(rule)) : otherwise
  const longest = bound('maxlength', Number.POSITIVE_INFINITY)
  if (text.length > longest) return w.bounds.longest(longest)
  if (rules.get('type') !== 'number') return null
  if (!/^\d{1,12}$/.test(text)) return w.noNumber
  const [least, most] = [bound('min', 0), bound('max', Number.POSITIVE_INFINITY)]
  if (Number(text) < least) return w.bounds.least(least)
  return Number(text) > most ? w.bounds.most(most) : null
}

/** What a schema or the core refused, told of its field; null if the form has no such field. */
export function faultIn(t: Tongue, form: Markup, error: unknown): FieldsTold | null {
  if (!(error instanceof CoreError)) return null
  const { detail } = error
  const told = typeof detail === 'string' ? [] : detail.flatMap(({ loc }) => loc)
  const path = error instanceof FieldFault ? error.names : told
  const one = fieldsIn(form).find(({ name }) => path.includes(name))
  if (one === undefined) return null
  if (!(error instanceof FieldFault)) return { problem: said(saidBy(t, error)), names: [one.name] }
  const { why, bound } = error
  const w = t.console.change
  const plain = bound === null ? w.unlike : w.bounds[bound.kind](bound.at)
  const own = why === null ? plain : refusalIn(t.language, why)
  const words = own === null ? html`<span lang="en">${why}</span>` : own
  return { problem: said(html`${one.label}: ${words}.`), names: [one.name] }
}

/** A form with its wrong fields marked. */
export const withMarked = (form: Markup, names: readonly string[]): Markup =>
  raw(
    String(form).replace(TAG, (whole, tag: string) => {
      if (!names.includes(rulesOf(tag).get('name') ?? '')) return whole
      const described = / aria-describedby="/
      const linked = described.test(whole)
        ? whole.replace(described, ` aria-describedby="${WORDS_ID} `)
        : whole.replace(/>$/, ` aria-describedby="${WORDS_ID}">`)
      return linked.replace(/>$/, ' aria-invalid="true">')
    }),
  )

/** Names of the fields of a form: their values are not also kept as hidden fields. */
export const namesInForm = (form: Markup): string[] =>
  [...String(form).matchAll(TAG)].map(([, tag = '']) => rulesOf(tag).get('name') ?? '')
