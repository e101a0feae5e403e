/** Takes secrets out of text that leaves a call sideways: messages of errors, log lines. */

import { base64Forms, textForms } from '../contract/secret-forms.ts'

/** Shorter secrets are left alone: `guest` as a password would blot out half of every text. */
const MIN_SECRET_LENGTH = 8

/** What a secret is replaced with. */
export const REDACTED = '[secret]'

export type Redact = (text: string) => string

/**
 * Replaces each secret in every form in which it usually travels. They are asked for at the first text:
 * most calls tell none.
 */
export function createRedact(secrets: () => readonly string[]): Redact {
  let forms: string[] | null = null
  return (text) => {
    forms ??= formsOf(secrets())
    return forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
  }
}

/** Forms of all secrets, the longest first: one may be a part of another. */
function formsOf(secrets: readonly string[]): string[] {
  // Pasted with white space around it, a secret is echoed without.
  const all = secrets
    .flatMap((secret) => [secret, secret.trim()])
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [...textForms(secret), ...base64Forms(secret)])
  return [...new Set(all)].sort((a, b) => b.length - a.length)
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
