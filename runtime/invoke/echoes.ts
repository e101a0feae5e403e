/**
 * What is left of a provider's answer to an OAuth request when the secrets are taken out that it repeats.
 * Replies of other capabilities lose theirs before a connector sees them.
 */

import { INPUTS } from '../contract/limits/inputs.ts'
import { isObject, membersOf } from '../contract/schema/record.ts'
import { type Redact, redactValue } from '../redact/redact.ts'

/** What a token endpoint gives in these members is the caller's, also where it is what was sent. */
const GIVEN = ['access_token', 'refresh_token', 'id_token', 'token_type', 'expires_in']

/** Largest raw data that is parsed for it, in bytes; larger ones are left out. */
const MAX_BYTES = INPUTS.upstream_json.maxBytes

/** The provider's JSON without echoes. */
export function withoutEchoes(raw: object, redact: Redact): object {
  const members = Object.entries(raw).flatMap(([name, value]): [string, unknown][] =>
    GIVEN.includes(name) && typeof value !== 'object'
      ? [[name, value]]
      : Object.entries(membersOf(redactValue({ [name]: value }, redact))),
  )
  return Object.fromEntries(members)
}

/** The same of JSON that a connector made: `null` for what is none or too large. */
export function rawWithoutEchoes(json: Buffer, redact: Redact): Buffer {
  if (json.length === 0) return json
  if (json.length > MAX_BYTES) return Buffer.from('null')
  try {
    const raw: unknown = JSON.parse(json.toString())
    const shown = isObject(raw) ? withoutEchoes(raw, redact) : redactValue(raw, redact)
    return Buffer.from(JSON.stringify(shown))
  } catch {
    // A worker that sends this is not ours any more.
    return Buffer.from('null')
  }
}
