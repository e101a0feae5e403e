/**
 * Entitlements of the configured type become groups, and their holders become members. A group whose
 * entitlement was removed stays, empty: settings may refer to it.
 */
import { sql } from 'drizzle-orm'
import { MAX_ACCOUNT_ID } from '../kernel/kept-text.ts'
import { checkpoint, toNext, type Walk } from './runs.ts'

/** contract/models/people-file.ts: MAX_NAME_LENGTH. */
const MAX_NAME = 255

/**
 * Id of a group in its app: the entitlement's id, prefixed by that of its resource unless that is the global
 * one.
 */
const ID = sql`(case when e.resource_id = '' then e.external_id else e.resource_id || '/' || e.external_id end)`

/**
 * Syncs the groups and their members. Each kind of change is one statement, so that every table is read once,
 * regardless of the number of groups.
 */
export async function syncGroups(walk: Walk): Promise<void> {
  const { app, settings } = walk
  const type = settings.identity?.groups ?? null
  if (type === null) return checkpoint(walk, async () => toNext(walk))
  await checkpoint(walk, async (tx) => {
    const made = await tx.execute(sql`
      insert into groups (domain_id, app_id, integration_specific_id, name, description)
      select ${app.domainId}, ${app.id}, ${ID}, left(e.label, ${MAX_NAME}), e.description
      from entitlements e
      where e.app_id = ${app.id} and e.entitlement_type = ${type} and e.gone_at is null
        and length(${ID}) <= ${MAX_ACCOUNT_ID}
      on conflict (app_id, integration_specific_id)
        where app_id is not null and integration_specific_id <> ''
      do update set name = excluded.name, description = excluded.description
        where (groups.name, groups.description) is distinct from (excluded.name, excluded.description)`)
    await tx.execute(sql`
      create temporary table group_wanted on commit drop as
      select distinct g.id as group_id, a.user_id from groups g
      join entitlements e on e.app_id = g.app_id and ${ID} = g.integration_specific_id
      join associations s on s.app_id = e.app_id and s.entitlement_id = e.id
      join accounts a on a.id = s.account_id
      where g.app_id = ${app.id} and e.entitlement_type = ${type} and e.gone_at is null
        and a.gone_at is null and a.user_id is not null`)
    const left = await tx.execute(sql`
      with gone as (
        delete from group_members m using groups g
        where g.id = m.group_id and g.app_id = ${app.id} and not exists (
          select from group_wanted w where w.group_id = m.group_id and w.user_id = m.user_id)
        returning m.user_id, g.name
      )
      insert into identity_events (domain_id, user_id, changed_field, old_value)
      select ${app.domainId}, user_id, 'groups', name from gone`)
    const joined = await tx.execute(sql`
      with come as (
        insert into group_members (domain_id, group_id, user_id)
        select ${app.domainId}, group_id, user_id from group_wanted
        on conflict do nothing returning group_id, user_id
      )
      insert into identity_events (domain_id, user_id, changed_field, new_value)
      select ${app.domainId}, come.user_id, 'groups', g.name
      from come join groups g on g.id = come.group_id`)
    return {
      ...toNext(walk),
      counted: {
        groups_changed: made.rowCount ?? 0,
        members_left: left.rowCount ?? 0,
        members_joined: joined.rowCount ?? 0,
      },
    }
  })
}
