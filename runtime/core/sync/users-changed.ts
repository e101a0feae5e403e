/** Whoever wants to know of users that a sync changed is told here, and nowhere else. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { RequestParts } from '../parts.ts'
import { QUEUE_NAMES, type QueueName } from '../work/queues.ts'
import { checkpoint, toNext, type Walk } from './runs.ts'

/** Users of one step. */
const BATCH = 500

/** What policies give depends on what users are: each is looked at, where there is a queue for it. */
export async function onUsersChanged(
  tx: Db,
  userIds: readonly string[],
  { send }: Pick<RequestParts, 'send'>,
): Promise<void> {
  const queue = (QUEUE_NAMES as string[]).find((name) => name === 'policies')
  if (queue === undefined) return
  for (const id of userIds) await send(tx, queue as QueueName, id)
}

/** Tells of the users that the run has changed: those of its identity events. */
export async function tellUsersChanged(walk: Walk): Promise<void> {
  const { app, run, parts, db } = walk
  if (walk.settings.identity === null) return checkpoint(walk, async () => toNext(walk))
  while (!walk.over()) {
    const after = Number(run.cursor ?? run.counts['before_last_event'] ?? 0)
    const { rows } = await db.execute<{ id: string; user_id: string }>(sql`
      select id, user_id from identity_events
      where domain_id = ${app.domainId} and id > ${after} order by id limit ${BATCH}`)
    const last = rows.at(-1)
    if (!last) return checkpoint(walk, async () => toNext(walk))
    await checkpoint(walk, async (tx) => {
      await onUsersChanged(tx, [...new Set(rows.map((row) => row.user_id))], parts)
      return { cursor: last.id }
    })
  }
}
