/** Takes secrets out of text that leaves a call sideways: messages of errors, log lines. */

import { base64Forms, textForms } from '../contract/secret-forms.ts'
import { atOnce } from '../contract/slices.ts'
import { prepareSearch, type Search, searchBack } from '../contract/text-search.ts'

/** Shorter secrets are left alone: `guest` as a password would blot out half of every text. */
const MIN_SECRET_LENGTH = 8

/** What a secret is replaced with. */
export const REDACTED = '[secret]'

export type Redact = (text: string) => string

/** What is looked for, and the length of each by its number. */
type Sought = { search: Search; lengths: readonly number[] }

/**
 * Replaces each secret in every form in which it usually travels. They are asked for at the first text:
 * most calls tell none. Takes time in proportion to the text, whatever both hold.
 */
export function createRedact(secrets: () => readonly string[]): Redact {
  let sought: Sought | null = null
  return (text) => {
    if (text.length < MIN_SECRET_LENGTH) return text
    sought ??= soughtOf(secrets())
    return blotOut(text, sought)
  }
}

function soughtOf(secrets: readonly string[]): Sought {
  // Pasted with white space around it, a secret is echoed without.
  const forms = secrets
    .flatMap((secret) => [secret, secret.trim()])
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [...textForms(secret), ...base64Forms(secret)])
  const texts = [...new Set(forms)].map((form, at) => ({ symbols: unitsOf(form), number: at + 1 }))
  return {
    search: atOnce(prepareSearch(texts, { alone: false })),
    lengths: [0, ...texts.map(({ symbols }) => symbols.length)],
  }
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
    end = Math.max(end, at + (lengths[number] as number))
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
