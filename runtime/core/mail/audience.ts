/** AUDIENCES: kind of mail -> query for its recipients. The query returns `user_id` and `about`. */
import { type SQL, sql } from 'drizzle-orm'
import type { MailKind } from '../../contract/models/mail.ts'

/** Maximum number of recipients of one event. */
export const MAX_RECIPIENTS = 500

const asText = (id: string): SQL => sql`${id}::text`

/** Query for the assignees of a task. `which` is a condition on `t`, the task. */
const assignees = (which: SQL): SQL => sql`
  select p.user_id, t.id::text as about from tasks t
  join lateral (
    select a.user_id from task_assignees a where a.task_id = t.id and a.user_id is not null
    union
    select m.user_id from task_assignees a join group_members m on m.group_id = a.group_id where a.task_id = t.id
  ) p on true
  where t.status in ('PENDING', 'ACCEPTED') and ${which}`

const ofTask = (id: string): SQL => assignees(sql`t.id::text = ${id}`)

/** Query for the people of a request. A policy's request has no requester, so nobody is told about it. */
const askers = (id: string): SQL => sql`
  select p.user_id, r.id::text as about from access_requests r
  join lateral (values (r.target_user_id), (r.requester_id)) p (user_id) on p.user_id is not null
  where r.id::text = ${id} and r.requester_id is not null`

export const AUDIENCES: Readonly<Record<Exclude<MailKind, 'ends'>, (about: string) => SQL>> = {
  waits: ofTask,
  sync_failed: ofTask,
  decided: askers,
  given: askers,
  revoked: askers,
  review_reminder: (id) =>
    assignees(sql`t.id in (select s.task_id from access_review_assignments s
      join access_review_apps a on a.id = s.arda_id where a.review_id::text = ${id})`),
  quarantined: (id) =>
    sql`select user_id, ${asText(id)} as about from user_roles where role = 'Admin'`,
}
