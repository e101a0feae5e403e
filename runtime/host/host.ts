/** A complete host except for its socket, as used by commands and tests. */
import type { RequestListener, Server } from 'node:http'
import type { Hono } from 'hono'
import type { Lifecycle } from '../connectors/lifecycle/lifecycle.ts'
import type { Installed } from '../connectors/registry/installed.ts'
import type { CoreContext } from '../core/kernel/context/context.ts'
import type { TokenHasher } from '../core/kernel/identity/token-hasher.ts'
import type { Db } from '../database/database.ts'
import type { Env } from '../http/edge/env.ts'
import type { Front } from '../http/front/front.ts'
import type { Readiness } from '../http/readiness.ts'
import type { Invoke } from '../invoke/invoke.ts'
import type { Lanes } from '../lanes/lanes.ts'

export type Host = {
  app: Hono<Env>
  /** Wraps the listener of a server of `app`. Refuses malformed requests before routing. */
  refuseOdd(next: RequestListener): RequestListener
  /** Installs the fast path for plain calls in front of a server of `app`. */
  interceptConnections(server: Server): Front
  registry: Installed
  lifecycle: Lifecycle
  lanes: Lanes
  invoke: Invoke
  /** File with the operator's token, or null if the token was not generated. */
  adminTokenFile: string | null
  adminToken: string
  /** What core functions need in addition to the database and the caller. */
  parts: CoreContext
  hasher: TokenHasher
  /** Returns the database, or null before it is available. */
  db(): Db | null
  /** Returns the process id of the embedded server, or null. */
  databasePid(): number | null
  readyAfter: Readiness['after']
  /**
   * Ends responses that would never end by themselves: lists that a client follows. Clients reconnect, to
   * another host.
   */
  endFollowing(): void
  /** Resolves when the database serves for the first time. */
  databaseReady: Promise<void>
  /** Resolves when every folder that existed at the start is either served or a ghost. */
  settled: Promise<void>
  stop(): Promise<void>
}
