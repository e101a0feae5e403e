/** A whole host but for its socket: what commands and tests have of it. */
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
  /** What a server of `app` listens with: refuses odd requests before anything routes them. */
  refuseOdd(next: RequestListener): RequestListener
  /** Installs the fast path for plain calls in front of a server of `app`. */
  standBefore(server: Server): Front
  registry: Installed
  lifecycle: Lifecycle
  lanes: Lanes
  invoke: Invoke
  /** The file that holds the operator's token, where it was generated. */
  adminTokenFile: string | null
  adminToken: string
  /** What core functions need in addition to the database and the caller. */
  parts: CoreContext
  hasher: TokenHasher
  /** The database, once it is there. */
  db(): Db | null
  /** The embedded server's process, or null. */
  databasePid(): number | null
  readyAfter: Readiness['after']
  /** Ends answers that would go on for ever: lists that are followed. Who follows one comes again, to another host. */
  endFollowing(): void
  /** Resolves when the database serves for the first time. */
  databaseReady: Promise<void>
  /** Resolves when every folder that was there at the start is served or a ghost. */
  settled: Promise<void>
  stop(): Promise<void>
}
