/** Removes secrets from text that leaves a call other than in its reply: error messages and log lines. */

import { hash } from 'node:crypto'
import { createCache } from '../bounded/cache.ts'
import { atOnce } from '../bounded/slices.ts'
import { base64Forms, textForms } from './secret-forms.ts'
import { bytesOfSearch, prepareSearch, type Search, searchBack } from './text-search.ts'

/** Shorter secrets are not redacted: `guest` as a password would blot out half of every text. */
const MIN_SECRET_LENGTH = 8

/** Of the secrets hidden at any length, shorter ones are found only if no letter or digit is adjacent. */
const MIN_PART_LENGTH = 4

/** Replacement for a secret. */
export const REDACTED = '[secret]'

export type Redact = (text: string) => string

/**
 * Prepared search, with the length of each form by its number. `short` finds forms too short for the search.
 */
type Sought = { search: Search; lengths: readonly number[]; short: RegExp | null }

/** Placeholders that stand for secrets in one call. */
type Placeholders = {
  texts(): readonly string[]
  /**
   * Finds any part of a placeholder. Few texts contain one, so most calls need no search for placeholders.
   */
  scan: RegExp
}

/**
 * Returns a function that replaces each secret, in every form in which it usually travels. The secrets are
 * read when the first text is redacted. The time is linear in the length of the text, for any text and
 * secrets.
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

/**
 * Cache of prepared searches. Every request of a call is recorded without secrets, and preparing the search
 * took a fifth of the time of a small call.
 */
const kept = createCache<Sought>('redactions', {
  bytesOf: ({ search, lengths }) => bytesOfSearch(search) + NUMBER_BYTES * lengths.length,
})
const NUMBER_BYTES = 8

/** Maximum length of secrets, as JSON, whose search is cached: the digest is computed synchronously. */
const MAX_CHARS = 256 * 1024

function keptSoughtOf(secrets: readonly string[], atAnyLength: readonly string[]): Sought {
  const json = JSON.stringify([secrets, atAnyLength])
  if (json.length > MAX_CHARS) return soughtOf(secrets, atAnyLength)
  // A digest, so that an entry can be found only with the secrets themselves.
  const key = hash('sha256', json, 'base64')
  const known = kept.get(key)
  if (known !== undefined) return known
  const sought = soughtOf(secrets, atAnyLength)
  kept.set(key, sought)
  return sought
}

function soughtOf(secrets: readonly string[], atAnyLength: readonly string[]): Sought {
  // A secret pasted with surrounding white space is echoed without it.
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
 * Returns a pattern that finds short forms, the longest first because one may be part of another. It also
 * matches `REDACTED`, so that earlier replacements are skipped: some people choose `secret` as their secret.
 * The last letter or digit of an escape (`\n`, `%0A`) does not count as adjacent.
 */
function patternOf(forms: readonly string[]): RegExp {
  const sorted = [...forms].sort((a, b) => b.length - a.length)
  const anywhere = sorted.filter(({ length }) => length >= MIN_PART_LENGTH).map(RegExp.escape)
  const alone = sorted.filter(({ length }) => length < MIN_PART_LENGTH).map(RegExp.escape)
  const begin = String.raw`(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}|\\[nrtbf]|\\u[0-9A-Fa-f]{4}))`
  const words = alone.length === 0 ? [] : [`${begin}(?:${alone.join('|')})(?![A-Za-z0-9])`]
  return new RegExp([RegExp.escape(REDACTED), ...anywhere, ...words].join('|'), 'g')
}

/** Replaces each secret in a text. Overlapping secrets are replaced as one. */
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

/** Maximum nesting depth of a log line's fields. Deeper values are left out. */
const MAX_DEPTH = 32

/**
 * Returns a JSON value without secrets. Strings, names and numbers are redacted one by one: in the serialized
 * value, a secret such as `":{"` or `12345678` would break the JSON.
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
