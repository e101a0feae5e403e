/** The lines `notification` of evidence: who was asked and reminded, by which task and by which mail. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { OPEN_STATES } from '../../../database/schema/tasks.ts'
import { iso } from '../read.ts'

/** Rows that are read at once. */
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

/** Ids of the tasks of a review, to decide and to remove by hand, as `task_id`. */
export const askedTasks = (reviewId: string): SQL => sql`
  select s.task_id from access_review_assignments s
  join access_review_apps a on a.id = s.arda_id where a.review_id = ${reviewId} and s.task_id is not null
  union select task_id from access_review_items where review_id = ${reviewId} and task_id is not null`

/**
 * Tasks of a review, to decide and to remove by hand, then the mails about them; each by its moment. Of people and groups those
 * that the task is assigned to now. What retention has removed is not there.
 *
 * @param tx a transaction: it keeps a cursor there, so that all mails are looked through once
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
