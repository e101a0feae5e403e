/** Notification of policies about users that a sync changed. It happens only here. */
import { sql } from 'drizzle-orm'
import { MANY_USERS } from '../kernel/context/listeners.ts'
import { checkpoint, toNext, type Walk } from './runs.ts'

/**
 * Notifies listeners of the users that the run has changed: those of its identity events, and of previous
 * runs that did not get this far. Above MANY_USERS, `all` is passed instead of ids.
 */
export async function notifyUsersChanged(walk: Walk): Promise<void> {
  const { app, run, parts, db } = walk
  if (walk.settings.identity === null) return checkpoint(walk, async () => toNext(walk))
  const after = run.counts['before_last_event'] ?? 0
  const { rows } = await db.execute<{ user_id: string }>(sql`
    select distinct user_id from identity_events
    where domain_id = ${app.domainId} and id > ${after} limit ${MANY_USERS + 1}`)
  const ids = rows.map((row) => row.user_id).sort()
  return checkpoint(walk, async (tx) => {
    await parts.listeners.usersChanged(
      tx,
      app.domainId,
      ids.length > MANY_USERS ? 'all' : ids,
      parts,
    )
    return toNext(walk)
  })
}
