/**
 * Removes secrets that a provider echoes from its answer to an OAuth request. Replies of other capabilities
 * are redacted before a connector sees them.
 */

import { INPUTS } from '../contract/limits/inputs.ts'
import { isObject, membersOf } from '../contract/schema/record.ts'
import { type Redact, redactValue } from '../redact/redact.ts'

/** Members of a token response that belong to the caller, even if they repeat what was sent. */
const GIVEN = ['access_token', 'refresh_token', 'id_token', 'token_type', 'expires_in']

/** Maximum size of raw data that is parsed, in bytes. Larger raw data is omitted. */
const MAX_BYTES = INPUTS.upstream_json.maxBytes

/** Returns the provider's JSON without echoed secrets. */
export function withoutEchoes(raw: object, redact: Redact): object {
  const members = Object.entries(raw).flatMap(([name, value]): [string, unknown][] =>
    GIVEN.includes(name) && typeof value !== 'object'
      ? [[name, value]]
      : Object.entries(membersOf(redactValue({ [name]: value }, redact))),
  )
  return Object.fromEntries(members)
}

/** The same for JSON made by a connector. Returns `null` for invalid or too large JSON. */
export function rawWithoutEchoes(json: Buffer, redact: Redact): Buffer {
  if (json.length === 0) return json
  if (json.length > MAX_BYTES) return Buffer.from('null')
  try {
    const raw: unknown = JSON.parse(json.toString())
    const shown = isObject(raw) ? withoutEchoes(raw, redact) : redactValue(raw, redact)
    return Buffer.from(JSON.stringify(shown))
  } catch {
    // A worker that sends this is compromised.
    return Buffer.from('null')
  }
}
