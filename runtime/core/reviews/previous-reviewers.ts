/** Reviewers of an app's previous review: of the same series if there is one, else of any review. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { ReviewAppRow, ReviewRow } from '../../database/schema/reviews.ts'
import { ESCALATED } from './reviewer-tasks.ts'
import type { Subject } from './reviewers.ts'

type Named = { userIds: string[]; groupIds: string[] }

/**
 * Returns, for each person, the final reviewers of their lines, after all reassignments. For a line that a
 * second person confirmed, this is the person who kept it first. Lines that were escalated to admins have
 * none.
 *
 * @returns by the id of the person, or an empty text for lines without a person; only for people who had
 * lines then
 */
export async function previousTeamsOf(
  tx: Db,
  { followsId }: ReviewRow,
  { id, appId, reviewId, reviewType }: ReviewAppRow,
  subjects: readonly Subject[],
): Promise<Map<string, Named>> {
  const ids = [...new Set(subjects.flatMap(({ userId }) => userId ?? []))]
  const { rows } = await tx.execute<{ of: string; user_ids: string[]; group_ids: string[] }>(sql`
    with last as (
      select b.id from access_review_apps b join access_reviews r on r.id = b.review_id
      where b.app_id = ${appId} and b.id <> ${id} and b.review_id <> ${reviewId}
        and b.review_type = ${reviewType} and b.launched_at is not null
      order by coalesce(r.id = ${followsId}::uuid or r.follows_id = ${followsId}::uuid, false) desc,
        b.launched_at desc, b.id limit 1
    ), had as (
      select distinct i.user_id, i.assignment_id, i.kept_by_id from access_review_items i
      where i.arda_id = (select id from last)
        and (i.user_id is null or i.user_id = any(${sql.param(ids)}::uuid[]))
    ), named as (
      select h.user_id, case when h.kept_by_id is null then s.user_ids else array[h.kept_by_id] end as users,
        case when h.kept_by_id is null then s.group_ids else '{}' end as groups
      from had h left join access_review_assignments s on s.id = h.assignment_id and s.why <> ${ESCALATED}
    )
    select coalesce(n.user_id::text, '') as of,
      coalesce((select array_agg(distinct one) from named m, unnest(m.users) one
        where m.user_id is not distinct from n.user_id), '{}') as user_ids,
      coalesce((select array_agg(distinct one) from named m, unnest(m.groups) one
        where m.user_id is not distinct from n.user_id), '{}') as group_ids
    from named n group by n.user_id`)
  return new Map(rows.map((row) => [row.of, { userIds: row.user_ids, groupIds: row.group_ids }]))
}
