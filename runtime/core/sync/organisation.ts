/** Managers from the identity source, and users whose accounts were removed from it. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { areLastAdmins } from '../directory/admins.ts'
import { accountAttribute } from './attributes.ts'
import { lockUsers, walkAccounts } from './people.ts'
import { checkpoint, toNext, type Walk } from './runs.ts'

/**
 * Sets each user's manager from the mapped attribute of their account: another account's id, or an address. A
 * user whose account names nobody, or the user, has none. Cycles are stored as listed.
 */
export async function syncManagers(walk: Walk): Promise<void> {
  const { app, settings } = walk
  const manager = settings.identity?.manager
  if (!manager) return checkpoint(walk, async () => toNext(walk))
  const named = accountAttribute(manager.attribute)
  const boss =
    manager.by === 'id'
      ? sql`(select b.user_id from accounts b where b.app_id = ${app.id} and b.unique_identifier = ${named})`
      : sql`(select b.id from users b where b.domain_id = ${app.domainId} and lower(b.email) = lower(${named}))`
  await walkAccounts(walk, async (tx, range) => {
    const { rows } = await tx.execute<{ n: string }>(sql`
      with source as (
        select distinct on (a.user_id) a.user_id, ${boss} as boss from accounts a
        where a.app_id = ${app.id} and a.gone_at is null and a.account_type = 'USER'
          and a.user_id in (select a.user_id from accounts a where ${range} and a.user_id is not null)
        order by a.user_id, a.status = 'ACTIVE' desc, a.unique_identifier
      ), change as (
        select users.id, users.manager_id as old, nullif(source.boss, users.id) as new
        from source join users on users.id = source.user_id and users.domain_id = ${app.domainId}
        where users.manager_id is distinct from nullif(source.boss, users.id)
      ), changed as (
        update users set manager_id = change.new, updated_at = now()
        from change where users.id = change.id
      ), told as (
        insert into identity_events (domain_id, user_id, changed_field, old_value, new_value)
        select ${app.domainId}, id, 'manager_id', old::text, new::text from change
      )
      select count(*) as n from change`)
    return { managers_changed: Number(rows[0]?.n ?? 0) }
  })
}

/** Makes users INACTIVE if all of their accounts in the source were removed. */
export const syncLeavers = (walk: Walk): Promise<void> =>
  walkAccounts(walk, async (tx, range) => {
    const { rows } = await tx.execute<{ id: string; admin: boolean }>(sql`
      select distinct u.id, exists (
        select from user_roles r where r.user_id = u.id and r.role = 'Admin') as admin
      from accounts a join users u on u.id = a.user_id and u.domain_id = ${walk.app.domainId}
      where ${range} and a.gone_at is not null and u.status <> 'INACTIVE' and not exists (
        select from accounts b where b.app_id = a.app_id and b.user_id = u.id and b.gone_at is null)`)
    await lockUsers(tx, idsOf(rows))
    const admins = rows.filter(({ admin }) => admin)
    const kept =
      admins.length > 0 &&
      (await areLastAdmins(tx, walk.app.domainId, new Set(admins.map(({ id }) => id))))
    const leaving = kept ? rows.filter(({ admin }) => !admin) : rows
    await inactivate(tx, walk, leaving)
    return { users_left: leaving.length, admins_kept: rows.length - leaving.length }
  })

async function inactivate(tx: Db, { app }: Walk, leaving: { id: string }[]): Promise<void> {
  if (leaving.length === 0) return
  await tx.execute(sql`
    with change as (
      select id, status from users where id in (${idsOf(leaving)})
    ), changed as (
      update users set status = 'INACTIVE', updated_at = now() from change where users.id = change.id
    )
    insert into identity_events (domain_id, user_id, changed_field, old_value, new_value)
    select ${app.domainId}, id, 'status', status, 'INACTIVE' from change`)
}

const idsOf = (people: readonly { id: string }[]): SQL =>
  sql`select json_array_elements_text(${JSON.stringify(people.map(({ id }) => id))}::json)::uuid`
