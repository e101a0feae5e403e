/** People who are being offboarded: no source of people sets their status until the offboarding is over. */
import { type SQL, sql } from 'drizzle-orm'

/** Condition that an offboarding of a user is in progress or due. `userId` is an SQL expression. */
export const isLeaving = (userId: SQL): SQL => sql`exists (
  select from user_offboardings leaving where leaving.user_id = ${userId} and (leaving.status = 'IN_PROGRESS'
    or (leaving.status = 'SCHEDULED' and leaving.wake_at <= clock_timestamp())))`
