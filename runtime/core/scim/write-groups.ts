/** Creates, changes and deletes groups that providers push (read-groups.ts). */
import { sql } from 'drizzle-orm'
import { type Db, written } from '../../database/database.ts'
import { groups } from '../../database/schema/people.ts'
import { scimGroups } from '../../database/schema/scim.ts'
import { lockGroupNames } from '../directory/group-names.ts'
import { recordMoves } from '../history/spans.ts'
import { isId } from '../kernel/by-id.ts'
import { oneAtATime, recordPush, type ScimCaller } from './caller.ts'
import { changeOfResource, type GroupChange } from './group-fields.ts'
import { duplicate, invalidValue } from './problem.ts'
import { FROM, findGroup, type GroupRow, toScimGroup, visibleGroups } from './read-groups.ts'
import { visibleUsers } from './read-users.ts'
import { requireVersion, type ScimRequest } from './resource.ts'
import type { PushDeps } from './write-users.ts'

type Body = Record<string, unknown>

/**
 * Creates a group. A group of the same name that the provider deleted is restored.
 *
 * @throws ScimError `bad_request`, `conflict`
 * @returns its id
 */
export async function createGroup(db: Db, caller: ScimCaller, body: Body): Promise<string> {
  const wanted = changeOfResource(body)
  return oneAtATime(db, caller, async (tx) => {
    const { domainId } = caller
    await requireFree(tx, caller, wanted.displayName, null)
    const { rows } = await tx.execute<{ id: string }>(sql`
      select g.id ${FROM} where g.domain_id = ${domainId} and g.app_id is null
        and lower(g.name) = lower(${wanted.displayName}) and s.deleted_at is not null
      order by g.name = ${wanted.displayName} desc, g.created_at, g.id limit 1`)
    const groupId = rows[0]?.id ?? (await insertGroup(tx, caller, wanted.displayName))
    await apply(tx, caller, groupId, wanted)
    await recordPush(tx, caller, 'GROUP_PUSHED', target(groupId, wanted.displayName), {
      members: wanted.join.size,
    })
    return groupId
  })
}

async function insertGroup(tx: Db, { domainId }: ScimCaller, name: string): Promise<string> {
  const [row] = await tx.insert(groups).values({ domainId, name }).returning()
  return written(row).id
}

/** Changes a group: replaces it (`changeOfResource`) or applies operations (`changeOfPatch`). */
export async function changeGroup(
  db: Db,
  caller: ScimCaller,
  id: string,
  change: GroupChange,
  request: ScimRequest,
): Promise<void> {
  await oneAtATime(db, caller, async (tx) => {
    const row = await lockedGroup(tx, caller, id, request)
    const { displayName: name = row.name } = change
    if (name !== row.name) await requireFree(tx, caller, name, id)
    const { joined, left } = await apply(tx, caller, id, change)
    const renamed = name !== row.name
    const { externalId = row.external_id } = change
    const linked = externalId !== row.external_id
    if (joined + left > 0 || renamed || linked)
      await recordPush(tx, caller, 'PUSHED_GROUP_CHANGED', target(id, name), {
        ...{ joined, left },
        ...(renamed ? { renamed_from: row.name } : {}),
        ...(linked ? { external_id: externalId, external_id_before: row.external_id } : {}),
      })
  })
}

/** Returns the current group. Its members are read only if a version must be compared. */
async function lockedGroup(
  tx: Db,
  caller: ScimCaller,
  id: string,
  request: ScimRequest,
): Promise<GroupRow> {
  const { ifMatch } = request
  const row = await findGroup(tx, caller, id, ifMatch !== null && ifMatch.trim() !== '*')
  requireVersion(request, toScimGroup(row, request))
  return row
}

/**
 * Deletes a group of the provider: removes all members. Settings that refer to it then refer to an empty
 * group.
 */
export async function deleteGroup(
  db: Db,
  caller: ScimCaller,
  id: string,
  request: ScimRequest,
  deps: Pick<PushDeps, 'now'>,
): Promise<null> {
  await oneAtATime(db, caller, async (tx) => {
    const row = await lockedGroup(tx, caller, id, request)
    const empty = { replaces: true, join: new Set<string>(), leave: new Set<string>() }
    const { left } = await apply(tx, caller, id, empty)
    const deletedAt = await deps.now(tx)
    await tx
      .insert(scimGroups)
      .values({ groupId: id, domainId: caller.domainId, deletedAt })
      .onConflictDoUpdate({ target: scimGroups.groupId, set: { deletedAt } })
    await recordPush(tx, caller, 'PUSHED_GROUP_DELETED', target(id, row.name), { left })
  })
  return null
}

const target = (id: string, name: string) => ({ target_type: 'Group', name, id })

/**
 * @throws ScimError `conflict` if another group has the name. Names are compared without case, because
 *   imports match groups by name.
 */
async function requireFree(
  tx: Db,
  { domainId }: ScimCaller,
  name: string,
  self: string | null,
): Promise<void> {
  await lockGroupNames(tx, domainId)
  const { rows } = await tx.execute(sql`select 1 ${FROM} where ${visibleGroups(domainId)}
    and lower(g.name) = lower(${name}) and g.id is distinct from ${self}::uuid limit 1`)
  if (rows.length > 0)
    throw duplicate('Another group has this displayName; find it by a filter and change that one')
}

/**
 * Writes a change.
 *
 * @throws ScimError `invalidValue` for a member who is not a user of the domain
 */
async function apply(
  tx: Db,
  caller: ScimCaller,
  id: string,
  change: GroupChange,
): Promise<{ joined: number; left: number }> {
  const { domainId } = caller
  const join = await knownUsers(tx, domainId, change.join)
  const name = change.externalId === undefined ? {} : { externalId: change.externalId }
  const shown = { deletedAt: null, ...name }
  await tx
    .insert(scimGroups)
    .values({ groupId: id, domainId, ...shown })
    .onConflictDoUpdate({ target: scimGroups.groupId, set: shown })
  const gone = change.replaces
    ? sql`m.user_id <> all(${sql.param(join)}::uuid[])`
    : sql`m.user_id = any(${sql.param([...change.leave].filter(isId))}::uuid[])`
  const left = await tx.execute(sql`
    with gone as (delete from group_members m where m.group_id = ${id} and ${gone} returning m.user_id)
    insert into identity_events (domain_id, user_id, changed_field, old_value)
    select ${domainId}, user_id, 'groups', (select name from groups where id = ${id}) from gone
    returning user_id`)
  // After the removals, whose events must have the old name of the group.
  if (change.displayName !== undefined)
    await tx.execute(sql`update groups set name = ${change.displayName}
      where id = ${id} and name <> ${change.displayName}`)
  const joined = await tx.execute(sql`
    with come as (insert into group_members (domain_id, group_id, user_id)
      select ${domainId}, ${id}::uuid, user_id from unnest(${sql.param(join)}::uuid[]) as wanted(user_id)
      on conflict do nothing returning user_id)
    insert into identity_events (domain_id, user_id, changed_field, new_value)
    select ${domainId}, user_id, 'groups', (select name from groups where id = ${id}) from come
    returning user_id`)
  await recordMoves(tx, { domainId, groupId: id, left: idsOf(left), joined: idsOf(joined) })
  return { joined: joined.rows.length, left: left.rows.length }
}

const idsOf = ({ rows }: { rows: Record<string, unknown>[] }): string[] =>
  rows.map(({ user_id: id }) => String(id))

async function knownUsers(tx: Db, domainId: string, ids: ReadonlySet<string>): Promise<string[]> {
  const wanted = [...ids]
  const { rows } = await tx.execute<{ id: string }>(sql`
    select u.id from users u where ${visibleUsers(domainId)}
      and u.id = any(${sql.param(wanted.filter(isId))}::uuid[])`)
  const known = new Set(rows.map(({ id }) => id))
  const missing = wanted.find((one) => !known.has(one))
  if (missing === undefined) return wanted
  throw invalidValue(
    `members names ${JSON.stringify(missing.slice(0, 64))}, which is not the id of a user of this domain`,
  )
}
