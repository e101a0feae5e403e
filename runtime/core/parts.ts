/** What core functions need besides the database and the caller: made once by main, handed to every call. */
import type { Cause } from '../contract/causes.ts'
import type { Db } from '../database/database.ts'
import type { Sealer } from '../seal.ts'
import type { Connectors } from './apps/connectors.ts'
import type { Send } from './background/background.ts'
import type { KeptDays } from './retention/rules.ts'
import type { Deliver } from './webhooks/deliver.ts'

/** `about` are ids, codes and numbers. Called once what it says is committed. */
export type Tell = (
  level: 'info' | 'warn' | 'error',
  about: Readonly<Record<string, string | number | null>>,
  words: string,
) => void

export type CoreParts = {
  connectors: Connectors
  /** Seals settings and credentials of connected apps, and the secrets of webhooks. */
  vault: Sealer
  /** Has something looked at in the background. */
  send: Send
  /** Sends to addresses of the operator's own, as egress lets it. */
  deliver: Deliver
  /** Leaves a line in the log; never what people or systems wrote. */
  tell: Tell
  /** What time it is: the database's, so that hosts agree. */
  now(db: Db): Promise<Date>
  /** How long what is over is kept, by table. */
  keptDays: KeptDays
}

/**
 * The parts of one request, or of one job: what is called for it ends when its caller is gone, and is told
 * with its cause.
 */
export type RequestParts = CoreParts & { requestId: string; cause: Cause; signal: AbortSignal }
