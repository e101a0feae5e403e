/** The activity log as it is stored. */
import { asc } from 'drizzle-orm'
import { withPersonalValues } from '../../runtime/core/kernel/audit/personal.ts'
import { chainWaiting } from '../../runtime/core/kernel/audit/unchained-entries.ts'
import type { Db } from '../../runtime/database/database.ts'
import { activityLogs } from '../../runtime/database/schema/audit.ts'
import { domainOf } from './host.ts'

/** Returns its rows in the order of the chain, including everything committed before. */
export async function storedLog(db: Db) {
  await chainWaiting(db, await domainOf(db))
  return withPersonalValues(db, await db.select().from(activityLogs).orderBy(asc(activityLogs.id)))
}
