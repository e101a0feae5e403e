/** The audit log: every change is recorded in the transaction that makes it, or it is not made. */
import { createHash } from 'node:crypto'
import { desc, eq } from 'drizzle-orm'
import type { Db } from '../database/database.ts'
import { activityLogs } from '../database/schema/audit.ts'
import { users } from '../database/schema/people.ts'
import type { Principal } from './principal.ts'

export type Target = { target_type: string; name: string; id: string }

/** Records what the caller did. */
export async function recordActivity(
  tx: Db,
  { domainId, userId }: Pick<Principal, 'domainId' | 'userId'>,
  eventType: string,
  targets: Target[],
  metadata: Record<string, unknown>,
): Promise<void> {
  const [user] = await tx.select().from(users).where(eq(users.id, userId))
  const actor = {
    actor_type: 'Lumos user',
    email: user?.email ?? '',
    given_name: user?.givenName ?? '',
    family_name: user?.familyName ?? '',
  }
  // Each row's hash covers the one before it: a row that is taken out or changed later shows.
  const [before] = await tx
    .select({ hash: activityLogs.eventHash })
    .from(activityLogs)
    .where(eq(activityLogs.domainId, domainId))
    .orderBy(desc(activityLogs.id))
    .limit(1)
  const beganAt = new Date()
  const content = JSON.stringify([before?.hash ?? '', eventType, actor, targets, metadata, beganAt])
  const eventHash = createHash('sha512').update(content).digest('hex')
  await tx.insert(activityLogs).values({
    domainId,
    eventHash,
    eventType,
    outcome: 'Succeeded',
    actor,
    targets,
    metadata,
    beganAt,
  })
}
