/**
 * Validates a form by its own markup, the only source of its labels and rules. Problems are reported in the
 * language of the page, and their fields are marked.
 */
import { html, raw } from 'hono/html'
import { CoreError } from '../../contract/errors/problem.ts'
import { refusalIn } from '../../words/refusals.ts'
import { saidBy } from '../frame/error-page.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { FieldFault } from './filled-in.ts'

type AskedField = {
  name: string
  label: Markup
  /** Attributes of the tag by name; empty for one without a value. */
  rules: ReadonlyMap<string, string>
}

/** The problem of a form, and the names of the fields to mark. */
export type FieldsTold = { problem: Markup; names: string[] }

/** Id of the element with the problem. */
const WORDS_ID = 'not-done'
const TAG = /<(?:input|textarea|select)\b([^>]*)>/g
const RULE = /([\w-]+)(?:="([^"]*)")?/g

const rulesOf = (tag: string): Map<string, string> =>
  new Map([...tag.matchAll(RULE)].map(([, name = '', value = '']) => [name, value]))

/** Returns all fields of a form that have their own label. */
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

/**
 * Returns the problem of a submitted form: all missing fields, otherwise the first invalid one. Null if there
 * is none.
 */
export function wrongIn(
  t: PageLocale,
  form: Markup,
  get: (name: string) => string,
): FieldsTold | null {
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

/** Returns why a text is invalid for its field, or null. */
function faultOf({ console: { change: w } }: PageLocale, rules: AskedField['rules'], text: string) {
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

/** Relates an error of a schema or of the core to its field. Null if the form has no such field. */
export function faultIn(t: PageLocale, form: Markup, error: unknown): FieldsTold | null {
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

/** Marks the invalid fields of a form. */
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

/** Returns the names of a form's fields. They are not repeated as hidden fields. */
export const namesInForm = (form: Markup): string[] =>
  [...String(form).matchAll(TAG)].map(([, tag = '']) => rulesOf(tag).get('name') ?? '')
