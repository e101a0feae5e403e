/**
 * Dependencies of core functions other than the database and the caller: created once by main, passed to every
 * call.
 */
import type { RefusalKind } from '../../../contract/errors/problem.ts'
import type { Cause } from '../../../contract/models/causes.ts'
import type { Db } from '../../../database/database.ts'
import type { Sealer } from '../../../secrets/seal.ts'
import type { Signer } from '../../../secrets/signing-key.ts'
import type { TokenHasher } from '../identity/token-hasher.ts'
import type { Connectors } from './connectors.ts'
import type { Deliver } from './deliver.ts'
import type { Listeners } from './listeners.ts'
import type { Pace } from './pace.ts'
import type { SendJob } from './send.ts'

/**
 * Writes a line to the host's log. `about` holds ids, codes and numbers. Call it after the transaction that
 * it reports has committed.
 */
export type Tell = (
  level: 'info' | 'warn' | 'error',
  about: Readonly<Record<string, string | number | null>>,
  words: string,
) => void

export type CoreContext = {
  connectors: Connectors
  /** Seals settings and credentials of connected apps, and the secrets of webhooks. */
  vault: Sealer
  /** Hashes new tokens. */
  hasher: TokenHasher
  /** Signs evidence. */
  signer: Signer
  /** Queues background work. */
  send: SendJob
  /** Sends webhooks to the operator's addresses, within the rules of egress. */
  deliver: Deliver
  /** Writes a line to the log, never with text from people or systems. */
  tell: Tell
  /** Returns the database's time, so that hosts agree. */
  now(db: Db): Promise<Date>
  /** Handlers on higher floors for changes on lower ones. */
  listeners: Listeners
  /** Pauses and timeouts of background work. */
  pace: Pace
  /** Returns the HTTP status of a refusal, which the activity log records. */
  statusOfRefusal(refused: { kind: RefusalKind }): number
}

/**
 * Context of one request or one job. Its outgoing calls are aborted when the caller leaves, and are logged
 * with its cause.
 */
export type RequestContext = CoreContext & { requestId: string; cause: Cause; signal: AbortSignal }
