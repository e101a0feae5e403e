/** What core functions need in addition to the database and the caller: made once by main, handed to every call. */
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

/** `about` are ids, codes and numbers. Called once what it says is committed. */
export type Tell = (
  level: 'info' | 'warn' | 'error',
  about: Readonly<Record<string, string | number | null>>,
  words: string,
) => void

export type CoreContext = {
  connectors: Connectors
  /** Seals settings and credentials of connected apps, and the secrets of webhooks. */
  vault: Sealer
  /** Hashes tokens that are made. */
  hasher: TokenHasher
  /** Signs evidence. */
  signer: Signer
  /** Has something looked at in the background. */
  send: SendJob
  /** Sends to addresses of the operator's own, as egress lets it. */
  deliver: Deliver
  /** Leaves a line in the log; never what people or systems wrote. */
  tell: Tell
  /** What time it is: the database's, so that hosts agree. */
  now(db: Db): Promise<Date>
  /** What higher floors do when something on a lower one changes. */
  listeners: Listeners
  /** How long the background pauses and waits. */
  pace: Pace
  /** The number that a refusal is answered with: the activity log has it of what was refused. */
  statusOfRefusal(refused: { kind: RefusalKind }): number
}

/**
 * The parts of one request, or of one job: what is called for it ends when its caller is gone, and is told
 * with its cause.
 */
export type RequestContext = CoreContext & { requestId: string; cause: Cause; signal: AbortSignal }
