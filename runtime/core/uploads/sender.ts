/** Permissions of the sender of an upload at the time of its processing. */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { isReachRefused, reach } from '../kernel/identity/app-reach.ts'
import { callerOf, mayAct } from '../kernel/identity/principal.ts'
import type { KeptUpload } from './kept-upload.ts'

/** Problem of an upload whose sender is no longer active, or no longer manages any app. */
export const SENDER_GONE = 'its sender is no longer active, or no longer manages any app'

/** Returns the condition on `apps` that the sender manages them now, or null if the sender manages none. */
export async function managedBySender(
  tx: Db,
  { domainId, userId }: Pick<KeptUpload, 'domainId' | 'userId'>,
): Promise<SQL | null> {
  const [user] = await tx.select({ status: users.status }).from(users).where(eq(users.id, userId))
  const caller = await callerOf(tx, { domainId, userId, readOnly: false })
  const principal = { ...caller, tokenId: '', usedLately: true }
  if (!user || !mayAct(user.status) || isReachRefused(principal, 'apps.write')) return null
  return reach(principal, 'apps.write') ?? sql`true`
}
