/** What core functions need besides the database and the caller: made once by main, handed to every call. */
import type { Sealer } from '../seal.ts'
import type { Connectors } from './apps/connectors.ts'

export type CoreParts = {
  connectors: Connectors
  /** Seals settings and credentials of connected apps. */
  vault: Sealer
}

/** The parts of one request: what is called for it ends when its caller is gone. */
export type RequestParts = CoreParts & { requestId: string; signal: AbortSignal }
