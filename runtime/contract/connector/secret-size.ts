/** Size limit of one call's secrets. All output is searched for each of them, in some twenty forms. */
import { RuntimeError } from '../errors/errors.ts'
import { mapSecrets, type Schemas, type SecretParts } from './secrets.ts'

/**
 * Maximum size of all secrets of a call together, in characters. A character that is written differently in
 * URLs, JSON or HTML counts as eight, because it makes the forms longer. A private key in PEM counts as some
 * 2,500, a SAML assertion in XML of 20 KB as 50,000.
 */
const MAX_SECRETS_SIZE = 64 * 1024

const ESCAPED_SIZE = 8

/**
 * Rejects secrets whose total size is over the limit.
 *
 * @throws credentials_invalid, settings_invalid or request_invalid, naming the field of the largest secret
 */
export function boundSecrets(parts: SecretParts, schemas: Schemas): void {
  let size = 0
  let largest = { field: '', owner: '', size: 0 }
  mapSecrets(parts, schemas, (owner, field) => (value) => {
    const own = sizeOf(value)
    size += own
    if (own > largest.size) largest = { field, owner, size: own }
    return value
  })
  if (size <= MAX_SECRETS_SIZE) return
  const { owner, field } = largest
  const ofCall = owner === 'request' || owner.startsWith('settings.')
  const place = ofCall
    ? field
    : owner === 'auth'
      ? `auth.${field}`
      : `credentials.${owner}.${field}`
  throw new RuntimeError(
    owner === 'request' ? 'request_invalid' : ofCall ? 'settings_invalid' : 'credentials_invalid',
    `${place}: too large: all secrets of a call together may have ${MAX_SECRETS_SIZE} characters, and have ${size}, where each but letters, digits and -._~ counts as ${ESCAPED_SIZE}; send a shorter one`,
  )
}

function sizeOf(text: string): number {
  // Already too large, regardless of its characters.
  if (text.length > MAX_SECRETS_SIZE) return text.length
  const plain = text.match(/[A-Za-z0-9\-._~]+/g) ?? []
  const clear = plain.reduce((sum, { length }) => sum + length, 0)
  return clear + (text.length - clear) * ESCAPED_SIZE
}
