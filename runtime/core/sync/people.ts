/**
 * Users from the identity source. Each sync takes address, names, status and mapped attributes from the
 * user's account in the source. No user is deleted. If a user has several accounts in the source, the active
 * one with the smallest id counts.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { areLastAdmins } from '../directory/admins.ts'
import { isLeaving } from '../directory/leaving.ts'
import { idsOf } from '../kernel/by-id.ts'
import { hasEmail } from './attributes.ts'
import { endOfBatch } from './batches.ts'
import { checkpoint, toNext, type Walk } from './runs.ts'

/** Number of accounts per step. */
const BATCH = 1000

/** Runs a step for each batch of accounts, for the identity source only. */
export async function walkAccounts(
  walk: Walk,
  step: (tx: Db, range: SQL) => Promise<Record<string, number>>,
): Promise<void> {
  if (walk.settings.identity === null) return checkpoint(walk, async () => toNext(walk))
  while (!walk.over()) {
    const after = walk.run.cursor ?? ''
    const last = await endOfBatch(walk.db, walk, BATCH)
    if (last === null) return checkpoint(walk, async () => toNext(walk))
    const range = sql`(a.app_id = ${walk.app.id} and a.unique_identifier > ${after}
      and a.unique_identifier <= ${last})`
    await checkpoint(walk, async (tx) => ({ cursor: last, counted: await step(tx, range) }))
  }
}

/** Condition for an existing account of a person. */
const IS_PERSON = sql`a.gone_at is null and a.account_type = 'USER'`

/** Status of a user, from that of the account. */
const STATUS = sql`case when a.status = 'ACTIVE' then 'ACTIVE' when a.status = 'STAGED' then 'STAGED'
  else 'SUSPENDED' end`

export const syncPeople = (walk: Walk): Promise<void> =>
  walkAccounts(walk, async (tx, range) => {
    const users_made = await makeUsers(tx, walk, range)
    return { users_made, ...(await changeUsers(tx, walk, range)) }
  })

/**
 * Returns the mapped attributes of the account `a` in the form of a user's attributes. A missing one is null.
 */
const attributes = ({ settings }: Walk): SQL => {
  const mapping = JSON.stringify(settings.identity?.attributes ?? {})
  return sql`(select coalesce(jsonb_object_agg(m.key, jsonb_build_object('type', 'TEXT', 'value',
      coalesce(a.attributes ->> m.value, case m.value when 'given_name' then a.given_name
        when 'family_name' then a.family_name when 'email' then a.email
        when 'integration_specific_id' then a.unique_identifier end))), '{}')
    from jsonb_each_text(${mapping}::jsonb) m)`
}

/** Creates users for addresses that no user has yet. */
async function makeUsers(tx: Db, walk: Walk, range: SQL): Promise<number> {
  const { app } = walk
  const { rows } = await tx.execute<{ n: string }>(sql`
    with source as (
      select distinct on (lower(a.email)) a.email, coalesce(a.given_name, '') as given_name,
        coalesce(a.family_name, '') as family_name, ${STATUS} as status, ${attributes(walk)} as attributes
      from accounts a
      where ${range} and ${IS_PERSON} and a.user_id is null and ${hasEmail}
      order by lower(a.email), a.status = 'ACTIVE' desc, a.unique_identifier
    ), made as (
      insert into users (domain_id, email, given_name, family_name, status, custom_attributes)
      select ${app.domainId}, email, given_name, family_name, status, attributes from source
      on conflict do nothing
      returning id, email, given_name, family_name, status, custom_attributes
    ), linked as (
      update accounts set user_id = made.id, matched_by = 'SOURCE', updated_at = now()
      from made, accounts a
      where a.id = accounts.id and ${range} and a.user_id is null and lower(a.email) = lower(made.email)
    ), told as (
      insert into identity_events (domain_id, user_id, changed_field, new_value)
      select ${app.domainId}, made.id, told.field, told.value from made cross join lateral (
        values ('email', made.email), ('given_name', made.given_name),
          ('family_name', made.family_name), ('status', made.status)
        union all
        select 'custom_attributes.' || key, value ->> 'value' from jsonb_each(made.custom_attributes)
      ) as told(field, value) where told.value <> ''
    )
    select count(*) as n from made`)
  return Number(rows[0]?.n ?? 0)
}

/**
 * Maximum number of attempts for users who are changed by others during a sync. The next sync handles the
 * rest.
 */
const MAX_ATTEMPTS = 5

/** Updates existing users that differ from their accounts. */
async function changeUsers(tx: Db, walk: Walk, range: SQL): Promise<Record<string, number>> {
  let users_changed = 0
  for (let look = 1; ; look += 1) {
    const { changed, missed, kept } = await changeOnce(tx, walk, range)
    users_changed += changed
    if (missed === 0 || look === MAX_ATTEMPTS) return { users_changed, admins_kept: kept }
  }
}

type Changes = {
  changed: number
  /** Number of users who changed after they were compared: nothing is written for them. */
  missed: number
  kept: number
}

async function changeOnce(tx: Db, walk: Walk, range: SQL): Promise<Changes> {
  const { app } = walk
  await tx.execute(sql`
    create temporary table people_change on commit drop as
    with source as (
      select distinct on (a.user_id) a.user_id, a.email, ${hasEmail} as has_email, a.given_name,
        a.family_name, ${STATUS} as status, ${attributes(walk)} as attributes
      from accounts a
      where a.app_id = ${app.id} and ${IS_PERSON}
        and a.user_id in (select a.user_id from accounts a where ${range} and a.user_id is not null)
      order by a.user_id, a.status = 'ACTIVE' desc, a.unique_identifier
    ), ranked as (
      select *, row_number() over (partition by lower(email) order by user_id) as rank from source
    )
    select users.id, users.status as old_status,
      case when ${isLeaving(sql`users.id`)} then users.status else ranked.status end as status,
      users.email as old_email, case when has_email and rank = 1 and not exists (
        select from users other where other.domain_id = users.domain_id and other.id <> users.id
          and lower(other.email) = lower(ranked.email)) then ranked.email else users.email end as email,
      users.given_name as old_given, coalesce(ranked.given_name, users.given_name) as given,
      users.family_name as old_family, coalesce(ranked.family_name, users.family_name) as family,
      users.custom_attributes as old_attributes,
      users.custom_attributes || ranked.attributes as attributes
    from ranked join users on users.id = ranked.user_id and users.domain_id = ${app.domainId}`)
  const before = sql`(c.old_email, c.old_given, c.old_family, c.old_status, c.old_attributes)`
  const after = sql`(c.email, c.given, c.family, c.status, c.attributes)`
  await lockUsers(
    tx,
    sql`select c.id from people_change c where ${before} is distinct from ${after}`,
  )
  // Check again under the lock: an offboarding may have begun since.
  await tx.execute(sql`
    update people_change c set status = c.old_status
    where c.status is distinct from c.old_status and ${isLeaving(sql`c.id`)}`)
  const kept = await keepAdmins(tx, app.domainId)
  const { rows } = await tx.execute<{ wanted: number; changed: number }>(sql`
    with changed as (
      update users set email = c.email, given_name = c.given, family_name = c.family,
        status = c.status, custom_attributes = c.attributes, updated_at = now()
      from people_change c
      where users.id = c.id and ${before} is distinct from ${after}
        and (users.email, users.given_name, users.family_name, users.status, users.custom_attributes)
          is not distinct from ${before}
      returning users.id
    ), told as (
      insert into identity_events (domain_id, user_id, changed_field, old_value, new_value)
      select ${app.domainId}, c.id, told.field, told.old, told.new
      from people_change c join changed using (id) cross join lateral (
        values ('email', c.old_email, c.email), ('given_name', c.old_given, c.given),
          ('family_name', c.old_family, c.family), ('status', c.old_status, c.status)
        union all
        select 'custom_attributes.' || key, c.old_attributes -> key ->> 'value', value ->> 'value'
        from jsonb_each(c.attributes)
      ) as told(field, old, new) where told.old is distinct from told.new
    )
    select (select count(*)::int from people_change c where ${before} is distinct from ${after}) as wanted,
      (select count(*)::int from changed) as changed`)
  await tx.execute(sql`drop table people_change`)
  const { wanted = 0, changed = 0 } = rows[0] ?? {}
  return { changed, missed: wanted - changed, kept }
}

/**
 * Locks users who change. The lock precedes that of admin roles, as in all code that takes both
 * (database/contention.ts).
 */
export const lockUsers = (tx: Db, ids: SQL) =>
  tx.execute(sql`select from users where id in (${ids}) order by id for no key update`)

/** Keeps the admins of the batch unchanged if otherwise no admin could sign in: nobody could repair that. */
async function keepAdmins(tx: Db, domainId: string): Promise<number> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    select c.id from people_change c join user_roles on user_roles.user_id = c.id and role = 'Admin'
    where c.status in ('SUSPENDED', 'INACTIVE') and c.old_status not in ('SUSPENDED', 'INACTIVE')`)
  if (rows.length === 0 || !(await areLastAdmins(tx, domainId, new Set(idsOf(rows))))) return 0
  await tx.execute(sql`
    update people_change set status = old_status
    where id in (select user_id from user_roles where role = 'Admin')`)
  return rows.length
}
