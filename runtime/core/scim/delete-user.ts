/** Users that a provider deletes: they are offboarded, stay as a record, and are nothing to anybody any more. */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { userRoles } from '../../database/schema/people.ts'
import { scimUsers } from '../../database/schema/scim.ts'
import { userTarget } from '../directory/users.ts'
import { recordLeaver } from '../history/spans.ts'
import { deactivate } from './active.ts'
import { oneAtATime, recordPush, type ScimCaller } from './caller.ts'
import { findScimUser, type ScimUserRow, toScimUser } from './read-users.ts'
import { demandVersion, type ScimRequest } from './resource.ts'
import type { PushMeans } from './write-users.ts'

/** The provider deletes a person, who is offboarded and stays as a record. */
export async function deleteUser(
  db: Db,
  caller: ScimCaller,
  id: string,
  request: ScimRequest,
  means: PushMeans,
): Promise<null> {
  await oneAtATime(db, caller, async (tx) => {
    const row = await findScimUser(tx, caller, id)
    demandVersion(request, toScimUser(row, request))
    const changed = await deactivate(tx, caller, row, means)
    const left = await leaveGroups(tx, caller, id)
    await loseRoles(tx, caller, row)
    await means.listeners.userDeleted(tx, {
      ...{ domainId: caller.domainId, userId: id },
      record: (eventType, targets, metadata) =>
        recordPush(tx, caller, eventType, targets, { deleted_user_id: id, ...metadata }),
    })
    if (changed || left > 0) await means.listeners.usersChanged(tx, caller.domainId, [id], means)
    const deletedAt = await means.now(tx)
    await tx
      .insert(scimUsers)
      .values({ userId: id, domainId: caller.domainId, userName: row.user_name, deletedAt })
      .onConflictDoUpdate({ target: scimUsers.userId, set: { deletedAt } })
    await recordPush(tx, caller, 'PUSHED_USER_DELETED', userTarget(row))
  })
  return null
}

/** Takes a person out of the company's groups (RFC 7644 section 3.6); those of apps are the apps'. @returns How many they were */
async function leaveGroups(tx: Db, { domainId }: ScimCaller, userId: string): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    with gone as (delete from group_members m using groups g
      where m.user_id = ${userId} and g.id = m.group_id and g.app_id is null returning g.name)
    insert into identity_events (domain_id, user_id, changed_field, old_value)
    select ${domainId}, ${userId}::uuid, 'groups', name from gone`)
  const left = rowCount ?? 0
  if (left > 0) await recordLeaver(tx, userId)
  return left
}

/** The next user with this address may be another person, so roles do not carry over. */
async function loseRoles(tx: Db, caller: ScimCaller, row: ScimUserRow): Promise<void> {
  const lost = await tx.delete(userRoles).where(eq(userRoles.userId, row.id)).returning()
  for (const { role } of lost)
    await recordPush(tx, caller, 'USER_ROLE_REMOVED', userTarget(row), { role })
}
