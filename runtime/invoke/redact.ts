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
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
      JSON.stringify(secret).slice(1, -1),
    ])
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  if (longestFirst.length === 0) return (text) => text
  return (text) => longestFirst.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
}
