/** Takes secrets out of text that leaves a call sideways: messages of errors, log lines. */

import { hash } from 'node:crypto'
import { createCache } from '../bounded/cache.ts'
import { atOnce } from '../bounded/slices.ts'
import { base64Forms, textForms } from './secret-forms.ts'
import { bytesOfSearch, prepareSearch, type Search, searchBack } from './text-search.ts'

/** Shorter secrets are left alone: `guest` as a password would blot out half of every text. */
const MIN_SECRET_LENGTH = 8

/** Of those that are hidden at any length, shorter ones are found only where no letter or digit is beside them. */
const MIN_PART_LENGTH = 4

/** What a secret is replaced with. */
export const REDACTED = '[secret]'

export type Redact = (text: string) => string

/** What is looked for, and the length of each by its number; `short` finds what is too short for that. */
type Sought = { search: Search; lengths: readonly number[]; short: RegExp | null }

/** What stands for secrets in one call alone. */
type Placeholders = {
  texts(): readonly string[]
  /** Finds whatever belongs to one: hardly any text holds one, so that none are prepared for most calls. */
  scan: RegExp
}

/**
 * Replaces each secret in every form in which it usually travels. They are asked for at the first text. Takes time in
 * proportion to the text, whatever both hold.
 *
 * @param atAnyLength Secrets that are hidden however short they are: parameters of OAuth and of logins.
 */
export function createRedact(
  secrets: () => readonly string[],
  atAnyLength: () => readonly string[] = () => [],
  placeholders: Placeholders | null = null,
): Redact {
  let sought: Sought | null = null
  let alsoSought: Sought | null = null
  return (text) => {
    sought ??= keptSoughtOf(secrets(), atAnyLength())
    let rest = text.length < MIN_SECRET_LENGTH ? text : blotOut(text, sought)
    if (placeholders !== null && rest.search(placeholders.scan) !== -1) {
      alsoSought ??= soughtOf(placeholders.texts(), [])
      rest = blotOut(rest, alsoSought)
    }
    return sought.short === null ? rest : rest.replace(sought.short, REDACTED)
  }
}

/** Each request of a call is recorded without secrets: preparing for them took a fifth of a small call. */
const kept = createCache<Sought>('redactions', {
  bytesOf: ({ search, lengths }) => bytesOfSearch(search) + NUMBER_BYTES * lengths.length,
})
const NUMBER_BYTES = 8

/** Of secrets whose search is kept, as JSON: digests are made in one go. */
const MOST_CHARS = 256 * 1024

function keptSoughtOf(secrets: readonly string[], atAnyLength: readonly string[]): Sought {
  const json = JSON.stringify([secrets, atAnyLength])
  if (json.length > MOST_CHARS) return soughtOf(secrets, atAnyLength)
  // A digest: what is kept is found by nobody who does not have the secrets.
  const key = hash('sha256', json, 'base64')
  const known = kept.get(key)
  if (known !== undefined) return known
  const sought = soughtOf(secrets, atAnyLength)
  kept.set(key, sought)
  return sought
}

function soughtOf(secrets: readonly string[], atAnyLength: readonly string[]): Sought {
  // Pasted with white space around it, a secret is echoed without.
  const spellings = (all: readonly string[]) => all.flatMap((secret) => [secret, secret.trim()])
  const any = spellings(atAnyLength).filter((secret) => secret.trim() !== '')
  const isLong = ({ length }: string) => length >= MIN_SECRET_LENGTH
  const forms = formsOf([...spellings(secrets), ...any].filter(isLong))
  const texts = forms.map((form, at) => ({ symbols: unitsOf(form), number: at + 1 }))
  const short = formsOf(any.filter((secret) => !isLong(secret)))
  return {
    search: atOnce(prepareSearch(texts, { alone: false })),
    lengths: [0, ...texts.map(({ symbols }) => symbols.length)],
    short: short.length === 0 ? null : patternOf(short),
  }
}

const formsOf = (secrets: readonly string[]): string[] => [
  ...new Set(secrets.flatMap((secret) => [...textForms(secret), ...base64Forms(secret)])),
]

/**
 * Finds short forms, the longest first: one may be a part of another. What was hidden before is passed over whole:
 * `secret` is a secret that people choose. An escape before one (`\n`, `%0A`) ends in a letter or digit and is none
 * beside it.
 */
function patternOf(forms: readonly string[]): RegExp {
  const sorted = [...forms].sort((a, b) => b.length - a.length)
  const anywhere = sorted.filter(({ length }) => length >= MIN_PART_LENGTH).map(RegExp.escape)
  const alone = sorted.filter(({ length }) => length < MIN_PART_LENGTH).map(RegExp.escape)
  const begin = String.raw`(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}|\\[nrtbf]|\\u[0-9A-Fa-f]{4}))`
  const words = alone.length === 0 ? [] : [`${begin}(?:${alone.join('|')})(?![A-Za-z0-9])`]
  return new RegExp([RegExp.escape(REDACTED), ...anywhere, ...words].join('|'), 'g')
}

/** The text without anything that belongs to a secret; those that overlap go as one. */
function blotOut(text: string, { search, lengths }: Sought): string {
  if (search.maxLength === 0) return text
  const numbers = new Int32Array(text.length)
  const all = { from: 0, to: text.length }
  searchBack(search, unitsOf(text), all, { state: 0, steps: 0 }, { base: 0, numbers, lengths })
  let output = ''
  let end = 0
  numbers.forEach((number, at) => {
    if (number === 0) return
    if (at >= end) output += text.slice(end, at) + REDACTED
    end = Math.max(end, at + (lengths[number] ?? 0))
  })
  return end === 0 ? text : output + text.slice(end)
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at += 1) units[at] = text.charCodeAt(at)
  return units
}

/** Deepest nesting of a log line's fields; what lies below is left out. */
const MAX_DEPTH = 32

/**
 * A JSON value without secrets. Its texts, names and numbers are redacted one by one: in the text of
 * the whole, a secret such as `":{"` or `12345678` would break the JSON.
 */
export function redactValue(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') {
    const text = redact(String(value))
    return text === String(value) ? value : text
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((one) => redactValue(one, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [redact(name), redactValue(one, redact, depth + 1)]),
  )
}
