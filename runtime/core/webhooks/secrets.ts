/**
 * What a webhook is signed with and what its headers hold: one sealed text in its row, bound to it, so that
 * it opens in no other.
 */

import { randomBytes } from 'node:crypto'
import type { WebhookRow } from '../../database/schema/app_store.ts'
import { SealError, type Sealer } from '../../secrets/seal.ts'

type Owner = Pick<WebhookRow, 'id' | 'domainId'>

export type WebhookSecrets = {
  /** `whsec_` and the key in base64. */
  secret: string
  /** The one before, which also signs until a moment (ISO 8601). */
  previous: { secret: string; until: string } | null
  /** Values by name in lower case. */
  headers: Record<string, string>
}

const PREFIX = 'whsec_'
const KEY_BYTES = 32

/** A new secret, in the form of Standard Webhooks. */
export const newSecret = (): string => `${PREFIX}${randomBytes(KEY_BYTES).toString('base64')}`

/** The key of a secret. */
export const secretKey = (secret: string): Buffer =>
  Buffer.from(secret.slice(PREFIX.length), 'base64')

/** What the sealed text of a webhook is bound to. */
export const boundTo = ({ id, domainId }: Owner): Buffer => Buffer.from(`webhook ${domainId} ${id}`)

export const sealSecrets = (vault: Sealer, owner: Owner, secrets: WebhookSecrets): Buffer =>
  vault.seal(JSON.stringify(secrets), boundTo(owner))

/** The secrets of a webhook; null for one that has none, or whose cannot be opened. */
export function openSecrets(
  vault: Sealer,
  row: Owner & Pick<WebhookRow, 'sealed'>,
): WebhookSecrets | null {
  if (row.sealed === null) return null
  try {
    return JSON.parse(vault.open(row.sealed, boundTo(row)))
  } catch (error) {
    // The caller says what to do about it.
    if (error instanceof SealError) return null
    throw error
  }
}
