/** Who is being offboarded: no source of people sets their status until it is over. */
import { type SQL, sql } from 'drizzle-orm'

/** Whether an offboarding of the user of an expression is under way, or is to begin now. */
export const isLeaving = (userId: SQL): SQL => sql`exists (
  select from user_offboardings leaving where leaving.user_id = ${userId} and (leaving.status = 'IN_PROGRESS'
    or (leaving.status = 'SCHEDULED' and leaving.wake_at <= clock_timestamp())))`
