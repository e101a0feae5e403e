/** Handlers of background work, and their turns: one host at a time works on a key. */

import type { Db } from '../../../database/database.ts'
import { alone } from '../../../database/exclusive-work.ts'
import type { CoreContext, RequestContext } from '../context/context.ts'

/** Handler of one kind of work. */
export type JobHandler = {
  /** Looks at the record that a key names and does the remaining work. An error is retried. */
  handle(db: Db, key: string, parts: RequestContext): Promise<void>
  /**
   * Returns the name of the lock under which `handle` runs, so that one host at a time works on a key and
   * work of a killed host continues at once. Required if the lease of the queue is a turn (queues.ts).
   * Without it, such work continues after the loss is detected, within half a minute.
   */
  turnOf?(key: string): string
  /** Returns the id of the app that `handle` calls, if any, so that no app takes all slots of a host. */
  appOf?(key: string): string
  /**
   * Returns the keys of due work, a few hundred at most. Called every two seconds on every host. `now`
   * defaults to the database's time.
   */
  due(db: Db, now?: Date): Promise<string[]>
  /**
   * Called when a key's job has failed for good. Creates a task for people, so that the failure is not
   * silent.
   */
  gaveUp(db: Db, key: string, problem: string, parts: CoreContext): Promise<void>
}

/**
 * Does the remaining work of a key. Does nothing while another host has the turn. Losing the lock aborts the
 * signal.
 */
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
