/** Obstacles to erasing a person: access that they have or are about to get. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { UserRow } from '../../database/schema/people.ts'
import { statesThatAre } from '../requests/machine/states.ts'
import { FIRST_ADMIN } from '../sign-in/first-admin.ts'

/** Returns the steps to do first, one per line. Empty if the person may be erased. */
export async function obstaclesToErasure(db: Db, person: UserRow): Promise<string[]> {
  const { id, email, status } = person
  if (email === FIRST_ADMIN)
    return ['the host created this user for its operator; it is not a person']
  const { rows } = await db.execute<{
    accounts: string[]
    requests: number
    offboardings: number
    reviews: string[]
  }>(
    sql`select
      array(select distinct apps.name from accounts join apps on apps.id = accounts.app_id
        where accounts.user_id = ${id} and accounts.gone_at is null order by 1 limit 20) as accounts,
      (select count(*)::int from access_requests where target_user_id = ${id}
        and status = any(${sql.param(statesThatAre('asked', 'wanted', 'unwanted'))}::text[])) as requests,
      (select count(*)::int from user_offboardings where user_id = ${id}
        and status in ('SCHEDULED', 'IN_PROGRESS')) as offboardings,
      array(select distinct v.name from access_review_items i
        join access_review_apps a on a.id = i.arda_id and a.status not in ('COMPLETED', 'DELETED')
        join access_reviews v on v.id = a.review_id where i.user_id = ${id} order by 1 limit 20) as reviews`,
  )
  const { accounts = [], requests = 0, offboardings = 0, reviews = [] } = rows[0] ?? {}
  return [
    ...(status === 'INACTIVE' ? [] : [`the user is ${status}: offboard the person first`]),
    ...(offboardings === 0 ? [] : ['an offboarding is in progress: wait until it ends']),
    ...(reviews.length === 0
      ? []
      : [
          `access reviews are in progress: wait for the end of ${reviews.join(', ')}, or delete them`,
        ]),
    ...(requests === 0
      ? []
      : [
          `${requests} access requests are not finished: deny, cancel or end them, or offboard the person first`,
        ]),
    ...(accounts.length === 0
      ? []
      : [
          `the person still has accounts in ${accounts.join(', ')}: delete them in these systems and sync the apps; a sync would bring the person back`,
        ]),
  ]
}
