/** The changes in the file: people_change, people_group, people_join and people_leave, and their totals. */
import { type SQL, sql } from 'drizzle-orm'
import { MAX_TOLD, type PeopleDifference } from '../../../contract/models/people-file.ts'
import { type Db, written } from '../../../database/database.ts'
import { lockGroupNames } from '../group-names.ts'

/** Expression for the name of a column if its value differs. */
const changes = (column: string, differs: SQL): SQL =>
  sql`case when ${differs} then ${column}::text end`

export async function comparePeople(tx: Db, domainId: string, dryRun: boolean): Promise<void> {
  const fields = sql.join(
    [
      changes('email', sql`people_match.email <> users.email`),
      // Null, for a column that is not in the file, differs from nothing.
      changes('given_name', sql`people_match.given_name <> users.given_name`),
      changes('family_name', sql`people_match.family_name <> users.family_name`),
      changes('status', sql`people_match.status <> users.status`),
      changes(
        'manager_email',
        sql`manager_email is not null and people_match.manager_id is distinct from users.manager_id`,
      ),
    ],
    sql`, `,
  )
  await tx.execute(sql`
    create temporary table people_change on commit drop as
    select user_id, line, is_new, people_match.email, case when is_new then '{}'::text[] else
      array_remove(array[${fields}], null)
      || case when users.custom_attributes @> attributes then '{}'::text[] else array(
        select key from jsonb_each(attributes) as attribute(key, value)
        where users.custom_attributes -> key is distinct from value order by key) end
      end as fields
    from people_match left join users on users.id = people_match.user_id`)
  await compareGroups(tx, domainId, dryRun)
}

/**
 * Compares the memberships in native groups. Groups of apps belong to the apps. Names are compared without
 * case, like those from providers. If several groups match, one that no provider has deleted is used, else the
 * one with the same case.
 */
async function compareGroups(tx: Db, domainId: string, dryRun: boolean): Promise<void> {
  await tx.execute(sql`
    create temporary table people_wanted on commit drop as
    select user_id, unnest(groups) as name from people_match where groups is not null`)
  // Lock only if a group is to be created, so that otherwise no provider waits for the import.
  const { rows: unknown } = await tx.execute(sql`
    select from people_wanted where lower(name) not in (
      select lower(name) from groups where domain_id = ${domainId} and app_id is null) limit 1`)
  if (unknown.length > 0 && !dryRun) await lockGroupNames(tx, domainId)
  await tx.execute(sql`
    create temporary table people_group on commit drop as
    with wanted as (
      select distinct name from people_wanted
    ), there as (
      select distinct on (wanted.name) wanted.name, groups.id
      from wanted join groups on lower(groups.name) = lower(wanted.name)
      left join scim_groups on scim_groups.group_id = groups.id
      where groups.domain_id = ${domainId} and app_id is null
      order by wanted.name,
        deleted_at is null or exists (select from group_members where group_id = groups.id) desc,
        groups.name = wanted.name desc, created_at, id
    ), made as materialized (
      select min(name) as name, gen_random_uuid() as id from wanted
      where name not in (select name from there) group by lower(name)
    )
    select wanted.name, coalesce(there.id, made.id) as group_id, wanted.name is not distinct from made.name as is_new
    from wanted left join there using (name) left join made on lower(made.name) = lower(wanted.name)`)
  await tx.execute(sql`
    create temporary table people_member on commit drop as
    select distinct user_id, group_id from people_wanted join people_group using (name)`)
  for (const table of ['people_change', 'people_group', 'people_member'])
    await tx.execute(sql`analyze ${sql.identifier(table)}`)
  await tx.execute(sql`
    create temporary table people_join on commit drop as
    select user_id, group_id from people_member as wanted where not exists (
      select from group_members as there
      where there.group_id = wanted.group_id and there.user_id = wanted.user_id)`)
  await tx.execute(sql`
    create temporary table people_leave on commit drop as
    select there.user_id, there.group_id from group_members as there
    join people_match on people_match.user_id = there.user_id and people_match.groups is not null
    join groups on groups.id = there.group_id and groups.app_id is null
    where groups.domain_id = ${domainId} and not exists (
      select from people_member as wanted
      where wanted.group_id = there.group_id and wanted.user_id = there.user_id)`)
  await tx.execute(sql`
    update people_change set fields = fields || '{groups}' where not is_new and user_id in (
      select user_id from people_join union select user_id from people_leave)`)
}

type Sums = Pick<
  PeopleDifference,
  | 'rows'
  | 'added'
  | 'changed'
  | 'unchanged'
  | 'groups_made'
  | 'memberships_added'
  | 'memberships_removed'
>

/** Returns the totals of the changes, with the first few names of each kind. */
export async function summarizeDifference(tx: Db): Promise<Omit<PeopleDifference, 'dry_run'>> {
  const rows = async <R extends Record<string, unknown>>(question: SQL) =>
    (await tx.execute<R>(question)).rows
  const [sums] = await rows<Sums>(sql`
    select count(*)::int as rows,
      (count(*) filter (where is_new))::int as added,
      (count(*) filter (where fields <> '{}'))::int as changed,
      (count(*) filter (where not is_new and fields = '{}'))::int as unchanged,
      (select count(*)::int from people_group where is_new) as groups_made,
      (select count(*)::int from people_join) as memberships_added,
      (select count(*)::int from people_leave) as memberships_removed
    from people_change`)
  const fields = await rows<{ field: string; n: number }>(sql`
    select field, count(*)::int as n from people_change, unnest(fields) as field
    group by field order by n desc, field`)
  const changed = await rows<{ email: string; fields: string[] }>(sql`
    select email, fields from people_change where fields <> '{}' order by line limit ${MAX_TOLD}`)
  const added = await rows<{ email: string }>(sql`
    select email from people_change where is_new order by line limit ${MAX_TOLD}`)
  const groups = await rows<{ name: string }>(sql`
    select name from people_group where is_new order by name limit ${MAX_TOLD}`)
  return {
    ...written(sums),
    added_emails: added.map(({ email }) => email),
    changed_fields: Object.fromEntries(fields.map(({ field, n }) => [field, n])),
    changed_people: changed,
    group_names: groups.map(({ name }) => name),
  }
}
