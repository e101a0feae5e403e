/** One kind of work, and its turns: of each key one host works at a time. */
import { alone } from '../../../database/alone.ts'
import type { Db } from '../../../database/database.ts'
import type { CoreContext, RequestContext } from '../context/context.ts'

/** One kind of work, as its room hands it in. */
export type JobHandler = {
  /** Looks at what a key names and does what is left to do. What it throws is tried again. */
  handle(db: Db, key: string, parts: RequestContext): Promise<void>
  /**
   * The name of the lock under which `handle` is called, so that one host at a time works on a key: what a killed
   * host has left is gone on with at once. Given where the lease of the queue is a turn (queues.ts). Without it, once
   * the host is missed: within half a minute.
   */
  turnOf?(key: string): string
  /** The id of the app whose system `handle` calls, where there is one: no app takes all places of a host. */
  appOf?(key: string): string
  /** Keys of what is due, a few hundred at most; asked every two seconds on every host. Now is the database's unless given. */
  due(db: Db, now?: Date): Promise<string[]>
  /** Called when a key's job failed for good: has people look at it, so that it is not silence. */
  gaveUp(db: Db, key: string, problem: string, parts: CoreContext): Promise<void>
}

/** Does what is left to do of a key; nothing where another host has its turn. A lost lock aborts the signal. */
export async function workOn(
  handler: JobHandler,
  db: Db,
  key: string,
  parts: RequestContext,
): Promise<void> {
  if (!handler.turnOf) return handler.handle(db, key, parts)
  await alone(db, handler.turnOf(key), (held) =>
    handler.handle(db, key, { ...parts, signal: AbortSignal.any([parts.signal, held]) }),
  )
}
