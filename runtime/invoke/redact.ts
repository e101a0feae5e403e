/** Takes secrets out of text that leaves a call sideways: messages of errors, log lines. */

/** Shorter secrets are left alone: `guest` as a password would blot out half of every text. */
const MIN_SECRET_LENGTH = 8

/** What a secret is replaced with. */
export const REDACTED = '[secret]'

export type Redact = (text: string) => string

/** Replaces each secret as it is, percent-encoded, in base64, and as it stands within JSON. */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [
      secret,
      // Half a surrogate pair cannot be encoded, and would throw.
      encodeURIComponent(secret.toWellFormed()),
      Buffer.from(secret).toString('base64'),
      JSON.stringify(secret).slice(1, -1),
    ])
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  if (longestFirst.length === 0) return (text) => text
  return (text) => longestFirst.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
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
