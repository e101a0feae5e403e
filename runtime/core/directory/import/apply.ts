/** Writes the compared changes, with one statement for each kind. */
import { sql } from 'drizzle-orm'
import { type CoreError, conflict } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import { recordImportedMembers } from '../../history/spans.ts'
import { skipOffboardedPeople } from './match.ts'

export async function applyPeople(tx: Db, domainId: string): Promise<void> {
  await tx.execute(sql`
    insert into users (id, domain_id, email, given_name, family_name, status, manager_id, custom_attributes)
    select user_id, ${domainId}, email, coalesce(given_name, ''), coalesce(family_name, ''),
      coalesce(status, 'ACTIVE'), manager_id, attributes
    from people_match where is_new`)
  // A later deactivation reads these events to decide whether an offboarding was the last change of the
  // person's status.
  await tx.execute(sql`
    insert into identity_events (domain_id, user_id, changed_field, old_value, new_value)
    select ${domainId}, users.id, 'status', users.status, people_match.status
    from people_match join people_change using (user_id) join users on users.id = people_match.user_id
    where 'status' = any(people_change.fields) and people_match.status is not null`)
  await tx.execute(sql`
    update users set email = people_match.email,
      given_name = coalesce(people_match.given_name, users.given_name),
      family_name = coalesce(people_match.family_name, users.family_name),
      status = coalesce(people_match.status, users.status),
      manager_id = case when people_match.manager_email is null
        then users.manager_id else people_match.manager_id end,
      custom_attributes = users.custom_attributes || people_match.attributes,
      updated_at = now()
    from people_match join people_change using (user_id)
    where users.id = people_match.user_id and users.domain_id = ${domainId}
      and array_remove(people_change.fields, 'groups') <> '{}'`)
  await tx.execute(sql`
    insert into groups (id, domain_id, name)
    select group_id, ${domainId}, name from people_group where is_new`)
  await tx.execute(sql`
    delete from group_members using people_leave as leaving
    where group_members.group_id = leaving.group_id and group_members.user_id = leaving.user_id`)
  await tx.execute(sql`
    insert into group_members (domain_id, group_id, user_id)
    select ${domainId}, group_id, user_id from people_join on conflict do nothing`)
  await recordImportedMembers(tx, domainId)
}

export const changedMeanwhile = (): CoreError =>
  conflict('The users changed during the import; import the file again')

/**
 * Locks the people who change. A person whose address differs from the one they were found by was erased, or
 * gave the address up. The file is then not about them.
 *
 * @throws CoreError `conflict` if an address now belongs to another person
 */
export async function lockChanged(tx: Db): Promise<void> {
  const { rows } = await tx.execute<{ others: number }>(sql`
    select count(*) filter (where not same)::int as others from (
      select lower(users.email) = lower(people_change.email) as same
      from users join people_change on people_change.user_id = users.id
      where not people_change.is_new and people_change.fields <> '{}'
      order by users.id for no key update of users) as held`)
  if (rows[0]?.others !== 0) throw changedMeanwhile()
  // Again, because an offboarding may have begun before its person was locked.
  await skipOffboardedPeople(tx)
}
