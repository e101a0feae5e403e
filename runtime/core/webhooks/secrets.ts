/**
 * The signing secret and header values of a webhook: one sealed text in its row, bound to that row so that it
 * cannot be opened in another.
 */

import { randomBytes } from 'node:crypto'
import type { WebhookRow } from '../../database/schema/app_store.ts'
import { SealError, type Sealer } from '../../secrets/seal.ts'

type Owner = Pick<WebhookRow, 'id' | 'domainId'>

export type WebhookSecrets = {
  /** `whsec_` followed by the key in base64. */
  secret: string
  /** The previous secret, which also signs until a given time (ISO 8601). */
  previous: { secret: string; until: string } | null
  /** Values by lower-case name. */
  headers: Record<string, string>
}

const PREFIX = 'whsec_'
const KEY_BYTES = 32

/** Returns a new secret in the format of Standard Webhooks. */
export const newSecret = (): string => `${PREFIX}${randomBytes(KEY_BYTES).toString('base64')}`

/** Returns the key of a secret. */
export const secretKey = (secret: string): Buffer =>
  Buffer.from(secret.slice(PREFIX.length), 'base64')

/** Returns the context to which the sealed text of a webhook is bound. */
export const boundTo = ({ id, domainId }: Owner): Buffer => Buffer.from(`webhook ${domainId} ${id}`)

export const sealSecrets = (vault: Sealer, owner: Owner, secrets: WebhookSecrets): Buffer =>
  vault.seal(JSON.stringify(secrets), boundTo(owner))

/** Returns the secrets of a webhook. Null if it has none, or if they cannot be opened. */
export function openSecrets(
  vault: Sealer,
  row: Owner & Pick<WebhookRow, 'sealed'>,
): WebhookSecrets | null {
  if (row.sealed === null) return null
  try {
    return JSON.parse(vault.open(row.sealed, boundTo(row)))
  } catch (error) {
    // The caller reports how to repair this.
    if (error instanceof SealError) return null
    throw error
  }
}
