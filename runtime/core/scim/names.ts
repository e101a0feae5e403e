/** Names and addresses of pushed people: each is one person's, and that of one who was deleted may be the next one's. */
import { and, eq, not, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { identityEvents } from '../../database/schema/sync.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { demandLeft } from './active.ts'
import type { ScimCaller } from './caller.ts'
import { duplicate } from './problem.ts'
import { NOT_DELETED, PUSHED_USERS } from './read-users.ts'

type Names = { userName: string; email: string; self: string | null }

/**
 * Judges whether a person may have a user name and an address, and has one who was deleted give up the address.
 *
 * @throws ScimError conflict where another has either
 * @returns The id of the one who was deleted, or null
 */
export async function takeNames(tx: Db, caller: ScimCaller, names: Names): Promise<string | null> {
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
  if (gone) await giveAddressUp(tx, caller, gone)
  return gone?.id ?? null
}

/**
 * Has a deleted person give up the address, under which their record could not stay beside the next one's. It is recognised
 * by what it has become, which no mail is delivered to (RFC 2606 section 2).
 *
 * @throws ScimError conflict while an offboarding takes their access: what is found by the address is still theirs; and
 *   where they have been let in again meanwhile
 */
async function giveAddressUp(
  tx: Db,
  { domainId }: ScimCaller,
  { id, email }: { id: string; email: string },
): Promise<void> {
  await demandLeft(
    tx,
    id,
    'An offboarding of the user who had this address is under way; give it to another',
  )
  const former = `${email}.${id.slice(0, 8)}.invalid`
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
