/**
 * Filters of the log by person. Names of people are stored outside the chain, so people are found by their
 * ids.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { activityLogs } from '../../../database/schema/audit.ts'
import { users } from '../../../database/schema/people.ts'

/** Returns the condition for entries by a user, given an id or an e-mail address. */
export async function actorIs(db: Db, domainId: string, named: string): Promise<SQL> {
  const id = named.includes('@') ? await idOf(db, domainId, named) : named.toLowerCase()
  return id === null ? sql`false` : sql`${activityLogs.actor} ->> 'id' = ${id}`
}

/** Returns the condition for entries about a target, given its id, a user's e-mail address, or its name. */
export async function targetIs(db: Db, domainId: string, named: string): Promise<SQL> {
  const { targets } = activityLogs
  const id = named.includes('@') ? await idOf(db, domainId, named) : named.toLowerCase()
  const isNamed = sql`${targets} @> ${json([{ name: named }])}`
  return id === null ? isNamed : sql`(${targets} @> ${json([{ id }])} or ${isNamed})`
}

const json = (value: unknown): SQL => sql`${JSON.stringify(value)}::jsonb`

async function idOf(db: Db, domainId: string, email: string): Promise<string | null> {
  const [user] = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.domainId, domainId), eq(sql`lower(${users.email})`, email.toLowerCase())))
    .limit(1)
  return user?.id ?? null
}
