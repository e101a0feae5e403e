/**
 * User names and addresses of pushed people. Each belongs to one person at a time. Those of a deleted person
 * may be assigned to the next.
 */
import { and, eq, not, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { identityEvents } from '../../database/schema/sync.ts'
import { MAX_EMAIL_LENGTH } from '../directory/email.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { requireLeft } from './active.ts'
import type { ScimCaller } from './caller.ts'
import { duplicate } from './problem.ts'
import { NOT_DELETED, PUSHED_USERS } from './read-users.ts'

type Names = { userName: string; email: string; self: string | null }

/**
 * Checks that a person may have a user name and an address. If a deleted person has the address, it is taken
 * from them.
 *
 * @throws ScimError `conflict` if another person has either
 * @returns the id of the deleted person, or null
 */
export async function claimNames(tx: Db, caller: ScimCaller, names: Names): Promise<string | null> {
  const { domainId } = caller
  const { userName, email, self } = names
  const { rows } = await tx.execute<{ same: 'userName' | 'email' }>(sql`
    select case when lower(coalesce(s.user_name, u.email)) = lower(${userName}) then 'userName' else 'email' end as same
    ${PUSHED_USERS}
    where u.domain_id = ${domainId} and u.id is distinct from ${self}::uuid
      and (lower(u.email) = lower(${email}) or u.id in (
        select user_id from scim_users where domain_id = ${domainId} and lower(user_name) = lower(${userName})
          and deleted_at is null)
        or (s.user_id is null and lower(u.email) = lower(${userName})))
      and ${NOT_DELETED}
    limit 1`)
  const [taken] = rows
  if (taken?.same === 'userName')
    throw duplicate('Another user has this userName; find it by a filter and change that one')
  if (taken) throw duplicate('Another user has the address in emails')
  const [gone] = await tx
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(
      and(
        eq(users.domainId, domainId),
        sql`lower(${users.email}) = lower(${email}) and ${users.id} is distinct from ${self}::uuid`,
      ),
    )
  if (gone) await releaseAddress(tx, caller, gone)
  return gone?.id ?? null
}

/**
 * Changes the address of a deleted person, whose record could not stay next to the next person's under the
 * same address. The new value is recognisable, and no mail is delivered to it (RFC 2606 section 2).
 *
 * @throws ScimError `conflict` while an offboarding revokes their access, because accounts found by the
 *   address are still theirs; also if they have been let in again in the meantime
 */
async function releaseAddress(
  tx: Db,
  { domainId }: ScimCaller,
  { id, email }: { id: string; email: string },
): Promise<void> {
  await requireLeft(
    tx,
    id,
    'An offboarding of the previous user with this address is in progress; give it to another user',
  )
  const former = formerAddress(email, id)
  const given = await tx
    .update(users)
    .set({ email: former })
    .where(and(eq(users.id, id), not(usersWhoMayAct(users))))
    .returning({ id: users.id })
  if (given.length === 0) throw duplicate('Another user has this userName or address')
  await tx
    .insert(identityEvents)
    .values({ domainId, userId: id, changedField: 'email', oldValue: email, newValue: former })
}

/** Returns the address with a suffix. A long domain is cut, so that the result is still an address. */
function formerAddress(email: string, id: string): string {
  const suffix = `.${id.slice(0, 8)}.invalid`
  const kept = email.slice(0, MAX_EMAIL_LENGTH - suffix.length).toWellFormed()
  return `${kept.replace(/\.$/, '')}${suffix}`
}
