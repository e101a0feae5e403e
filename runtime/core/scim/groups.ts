/**
 * Groups that providers push: the native groups of the core, which settings and tasks name. What an app synced is its
 * own and no group here.
 */
import { type SQL, sql } from 'drizzle-orm'
import { SCIM_LIMITS, SCIM_URNS } from '../../contract/models/scim.ts'
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'
import { groups } from '../../database/schema/people.ts'
import { scimGroups } from '../../database/schema/scim.ts'
import { written } from '../../database/written.ts'
import { recordGroupMembers } from '../history/spans.ts'
import { isId } from '../kernel/id.ts'
import { FIRST_ADMIN } from '../sign-in/first-admin.ts'
import { recordPush, type ScimCaller } from './caller.ts'
import { parseFilter } from './filter.ts'
import { filterSql, type ScimColumn } from './filter-sql.ts'
import { type GroupChange, patchGroup, readGroup } from './group-fields.ts'
import { operationsOf } from './patch.ts'
import { schemaOf } from './paths.ts'
import { duplicate, invalidValue, noSuch, ScimError } from './problem.ts'
import {
  demandVersion,
  type ListQuery,
  listOf,
  type Resource,
  type ScimRequest,
  shaped,
  sliceOf,
  wants,
  withMeta,
} from './resource.ts'
import type { PushMeans } from './write-users.ts'

type Body = Record<string, unknown>
type GroupRow = {
  id: string
  name: string
  external_id: string | null
  created_at: string | Date
  members: { value: string; display: string }[] | null
}

const FROM = sql`from groups g left join scim_groups s on s.group_id = g.id`
const visible = (domainId: string): SQL =>
  sql`g.domain_id = ${domainId} and g.app_id is null and s.deleted_at is null`

const columns = (withMembers: boolean): SQL => sql`
  g.id, g.name, s.external_id, g.created_at, ${
    withMembers
      ? sql`coalesce((select json_agg(json_build_object('value', u.id, 'display', u.email) order by u.id)
          from group_members m join users u on u.id = m.user_id where m.group_id = g.id), '[]')`
      : sql`null::json`
  } as members`

/** A group as RFC 7643 section 4.2 writes it. */
function toScimGroup(row: GroupRow, request: ScimRequest): Resource {
  const { id, name, external_id: externalId, members } = row
  const resource = {
    schemas: [SCIM_URNS.group],
    id,
    ...(externalId === null ? {} : { externalId }),
    displayName: name,
    ...(members === null
      ? {}
      : {
          members: members.map(({ value, display }) => ({
            ...{ value, display, type: 'User', $ref: `${request.base}/Users/${value}` },
          })),
        }),
  }
  return withMeta(resource, 'Group', request, { created: new Date(row.created_at) })
}

/** @throws ScimError 400 tooMany where more members would be told than are */
async function demandFew(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await db.execute<{ n: string }>(sql`
    select count(*) as n from group_members where group_id = any(${sql.param([...ids])}::uuid[])`)
  if (Number(rows[0]?.n ?? 0) <= SCIM_LIMITS.members) return
  throw new ScimError(
    400,
    'tooMany',
    `That is more than ${SCIM_LIMITS.members} members; ask with excludedAttributes=members, or for fewer groups`,
  )
}

async function findGroup(
  db: Db,
  { domainId }: ScimCaller,
  id: string,
  withMembers: boolean,
): Promise<GroupRow> {
  const { rows } = isId(id)
    ? await db.execute<GroupRow>(
        sql`select ${columns(withMembers)} ${FROM} where g.id = ${id} and ${visible(domainId)}`,
      )
    : { rows: [] }
  const [row] = rows
  if (!row) throw noSuch('Group', id)
  return row
}

export async function getScimGroup(
  db: Db,
  caller: ScimCaller,
  id: string,
  withMembers: boolean,
  request: ScimRequest,
): Promise<Resource> {
  if (withMembers && isId(id)) await demandFew(db, [id])
  return toScimGroup(await findGroup(db, caller, id, withMembers), request)
}

export async function listScimGroups(
  db: Db,
  { domainId }: ScimCaller,
  query: ListQuery,
  request: ScimRequest,
) {
  const slice = sliceOf(query)
  const { filter } = query
  const condition =
    filter === null || filter.trim() === '' ? sql`true` : filterSql(parseFilter(filter), columnAt)
  const where = sql`${visible(domainId)} and ${condition}`
  const { rows: counted } = await db.execute<{ n: string }>(
    sql`select count(*) as n ${FROM} where ${where}`,
  )
  const total = Number(counted[0]?.n ?? 0)
  const page = sql`select g.id ${FROM} where ${where} order by g.created_at, g.id
    limit ${slice.limit} offset ${slice.offset}`
  const withMembers = wants(query)('members')
  if (withMembers) {
    const { rows: ids } = await db.execute<{ id: string }>(page)
    await demandFew(
      db,
      ids.map(({ id }) => id),
    )
  }
  const { rows } = await db.execute<GroupRow>(sql`select ${columns(withMembers)} ${FROM}
    where g.id in (${page}) order by g.created_at, g.id`)
  const resources = rows.map((row) => shaped(toScimGroup(row, request), query))
  return listOf(resources, total, slice)
}

function columnAt(path: string): ScimColumn | undefined {
  const { rest } = schemaOf(path)
  switch (rest) {
    case 'id':
      return { kind: 'text', value: sql`g.id::text`, exact: true }
    case 'displayname':
      return { kind: 'text', value: sql`g.name` }
    case 'externalid':
      return { kind: 'text', value: sql`s.external_id`, exact: true }
    case 'meta.created':
      return { kind: 'moment', value: sql`g.created_at` }
    case 'members':
    case 'members.value':
      return { kind: 'some', holds: (inner) => filterSql(inner, memberColumn) }
    default:
      return undefined
  }
}

const memberColumn = (path: string): ScimColumn | undefined =>
  path === 'value'
    ? {
        ...{ kind: 'text', value: sql`null::text`, exact: true },
        equals: (text) =>
          isId(text)
            ? sql`g.id in (select group_id from group_members where user_id = ${text})`
            : sql`false`,
      }
    : undefined

/**
 * Makes a group; one of the name that the provider has deleted is taken up again.
 *
 * @throws ScimError 400, 409
 * @returns Its id
 */
export async function createGroup(db: Db, caller: ScimCaller, body: Body): Promise<string> {
  const wanted = readGroup(body)
  return oneAtATime(db, caller, async (tx) => {
    const { domainId } = caller
    await demandFree(tx, caller, wanted.displayName, null)
    const { rows } = await tx.execute<{ id: string }>(sql`
      select g.id ${FROM} where g.domain_id = ${domainId} and g.app_id is null
        and g.name = ${wanted.displayName} and s.deleted_at is not null
      order by g.created_at, g.id limit 1`)
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

export const replaceGroup = (
  db: Db,
  caller: ScimCaller,
  id: string,
  body: Body,
  request: ScimRequest,
): Promise<void> => changeGroup(db, caller, id, readGroup(body), request)

export const patchGroupById = (
  db: Db,
  caller: ScimCaller,
  id: string,
  body: Body,
  request: ScimRequest,
): Promise<void> => changeGroup(db, caller, id, patchGroup(operationsOf(body)), request)

async function changeGroup(
  db: Db,
  caller: ScimCaller,
  id: string,
  change: GroupChange,
  request: ScimRequest,
): Promise<void> {
  await oneAtATime(db, caller, async (tx) => {
    const row = await lockedGroup(tx, caller, id, request)
    const { displayName: name = row.name } = change
    if (name !== row.name) await demandFree(tx, caller, name, id)
    const { joined, left } = await apply(tx, caller, id, change)
    const renamed = name !== row.name
    if (joined + left > 0 || renamed)
      await recordPush(tx, caller, 'PUSHED_GROUP_CHANGED', target(id, name), {
        ...{ joined, left },
        ...(renamed ? { renamed_from: row.name } : {}),
      })
  })
}

/** The group as it is; with its members only where a version is to be compared. */
async function lockedGroup(
  tx: Db,
  caller: ScimCaller,
  id: string,
  request: ScimRequest,
): Promise<GroupRow> {
  const row = await findGroup(tx, caller, id, request.ifMatch !== null)
  demandVersion(request, toScimGroup(row, request))
  return row
}

/** The provider deletes a group: nobody is in it any more, and settings that name it name an empty one. */
export async function deleteGroup(
  db: Db,
  caller: ScimCaller,
  id: string,
  request: ScimRequest,
  means: Pick<PushMeans, 'now'>,
): Promise<null> {
  await oneAtATime(db, caller, async (tx) => {
    const row = await lockedGroup(tx, caller, id, request)
    const empty = { replaces: true, join: new Set<string>(), leave: new Set<string>() }
    const { left } = await apply(tx, caller, id, empty)
    const deletedAt = await means.now(tx)
    await tx
      .insert(scimGroups)
      .values({ groupId: id, domainId: caller.domainId, deletedAt })
      .onConflictDoUpdate({ target: scimGroups.groupId, set: { deletedAt } })
    await recordPush(tx, caller, 'PUSHED_GROUP_DELETED', target(id, row.name), { left })
  })
  return null
}

const target = (id: string, name: string) => ({ target_type: 'Group', name, id })

const oneAtATime = <T>(db: Db, { domainId }: ScimCaller, act: (tx: Db) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.execute(lockTextUntilEnd(`scim ${domainId}`))
    return act(tx)
  })

/** @throws ScimError 409 where another group has the name: the import knows groups by it */
async function demandFree(
  tx: Db,
  { domainId }: ScimCaller,
  name: string,
  self: string | null,
): Promise<void> {
  const { rows } = await tx.execute(sql`select 1 ${FROM} where ${visible(domainId)}
    and g.name = ${name} and g.id is distinct from ${self}::uuid limit 1`)
  if (rows.length > 0)
    throw duplicate('Another group has this displayName; find it by a filter and change that one')
}

/** Writes a change. @throws ScimError invalidValue for a member who is no user of the domain */
async function apply(
  tx: Db,
  caller: ScimCaller,
  id: string,
  change: GroupChange,
): Promise<{ joined: number; left: number }> {
  const { domainId } = caller
  const join = await knownUsers(tx, domainId, change.join)
  if (change.displayName !== undefined)
    await tx.execute(sql`update groups set name = ${change.displayName}
      where id = ${id} and name <> ${change.displayName}`)
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
    select ${domainId}, user_id, 'groups', (select name from groups where id = ${id}) from gone`)
  const joined = await tx.execute(sql`
    with come as (insert into group_members (domain_id, group_id, user_id)
      select ${domainId}, ${id}::uuid, user_id from unnest(${sql.param(join)}::uuid[]) as wanted(user_id)
      on conflict do nothing returning user_id)
    insert into identity_events (domain_id, user_id, changed_field, new_value)
    select ${domainId}, user_id, 'groups', (select name from groups where id = ${id}) from come`)
  const counts = { joined: joined.rowCount ?? 0, left: left.rowCount ?? 0 }
  if (counts.joined + counts.left > 0) await recordGroupMembers(tx, id)
  return counts
}

async function knownUsers(tx: Db, domainId: string, ids: ReadonlySet<string>): Promise<string[]> {
  const wanted = [...ids]
  const { rows } = await tx.execute<{ id: string }>(sql`
    select id from users where domain_id = ${domainId} and email <> ${FIRST_ADMIN}
      and id = any(${sql.param(wanted.filter(isId))}::uuid[])`)
  const known = new Set(rows.map(({ id }) => id))
  const missing = wanted.find((one) => !known.has(one))
  if (missing === undefined) return wanted
  throw invalidValue(
    `members names ${JSON.stringify(missing.slice(0, 64))}, which is no id of a user of this domain`,
  )
}
