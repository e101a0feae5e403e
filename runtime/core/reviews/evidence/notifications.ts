/** Lines `notification` of evidence: the people asked and reminded, by which task and which mail. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { OPEN_STATES } from '../../../database/schema/tasks.ts'
import { iso } from '../read.ts'

/** Number of rows read at once. */
const PAGE = 250

type Row = {
  id: string
  way: 'TASK' | 'MAIL'
  what: string
  task_id: string
  user_ids: string[]
  group_ids: string[]
  at: string
  outcome: string | null
  ended_at: string | null
  place: number
}

/** Query for the ids of a review's tasks, to decide and to remove by hand, as `task_id`. */
export const askedTasks = (reviewId: string): SQL => sql`
  select s.task_id from access_review_assignments s
  join access_review_apps a on a.id = s.arda_id where a.review_id = ${reviewId} and s.task_id is not null
  union select task_id from access_review_items where review_id = ${reviewId} and task_id is not null`

/**
 * Returns the tasks of a review, to decide and to remove by hand, then the mails about them, each ordered by
 * time. The people and groups are the current assignees. Rows removed by retention are missing.
 *
 * @param tx a transaction, which keeps a cursor so that the mails are scanned once
 */
export async function* notificationLines(
  tx: Db,
  { id }: { id: string },
): AsyncGenerator<Record<string, unknown>> {
  await tx.execute(sql`
    declare evidence_notifications no scroll cursor for
    with asked as materialized (${askedTasks(id)})
    select t.id, 'TASK' as way, t.task_type as what, t.id as task_id,
      array(select user_id from task_assignees where task_id = t.id and user_id is not null order by 1) as user_ids,
      array(select group_id from task_assignees where task_id = t.id and group_id is not null order by 1) as group_ids,
      t.created_at as at, t.status as outcome,
      case when t.status in (${OPEN_STATES}) then null else t.updated_at end as ended_at, 0 as place
    from tasks t where t.id in (select task_id from asked)
    union all
    select m.id, 'MAIL', m.kind, m.about::uuid, array[m.user_id], '{}', m.created_at, m.outcome, m.ended_at, 1
    from mails m where m.about in (select task_id::text from asked)
    order by place, at, id`)
  for (;;) {
    const { rows } = await tx.execute<Row>(
      sql`fetch forward ${sql.raw(String(PAGE))} from evidence_notifications`,
    )
    for (const { place: _, at, ended_at, ...row } of rows)
      yield { ...row, at: iso(new Date(at)), ended_at: ended_at && iso(new Date(ended_at)) }
    if (rows.length < PAGE) return
  }
}
