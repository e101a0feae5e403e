/**
 * Reads the groups that providers push: the core's native groups, which settings and tasks refer to. Groups
 * that were synced from an app belong to that app and do not appear here.
 */
import { type SQL, sql } from 'drizzle-orm'
import { SCIM_LIMITS, SCIM_URNS } from '../../contract/models/scim.ts'
import type { Db } from '../../database/database.ts'
import { idsOf, isId } from '../kernel/by-id.ts'
import type { ScimCaller } from './caller.ts'
import { parseFilter } from './filter.ts'
import { filterSql, type ScimColumn } from './filter-sql.ts'
import { schemaOf } from './paths.ts'
import { ScimError, scimNotFound } from './problem.ts'
import {
  type ListQuery,
  listResponse,
  type Resource,
  type ScimRequest,
  shaped,
  sliceOf,
  wants,
  withMeta,
} from './resource.ts'

export type GroupRow = {
  id: string
  name: string
  external_id: string | null
  created_at: string | Date
  members: { value: string; display: string }[] | null
}

/** Tables of a group, as `g` and `s`. */
export const FROM = sql`from groups g left join scim_groups s on s.group_id = g.id`
/**
 * Condition that a group belongs to the domain and exists. A group that the provider deleted still exists
 * while an import keeps people in it.
 */
export const visibleGroups = (domainId: string): SQL =>
  sql`g.domain_id = ${domainId} and g.app_id is null
    and (s.deleted_at is null or exists (select from group_members f where f.group_id = g.id))`

const columns = (withMembers: boolean): SQL => sql`
  g.id, g.name, s.external_id, g.created_at, ${
    withMembers
      ? sql`coalesce((select json_agg(json_build_object('value', u.id, 'display', u.email) order by u.id)
          from group_members m join users u on u.id = m.user_id where m.group_id = g.id), '[]')`
      : sql`null::json`
  } as members`

/** Returns a group in the form of RFC 7643 section 4.2. */
export function toScimGroup(row: GroupRow, request: ScimRequest): Resource {
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
  const times = { created: new Date(row.created_at) }
  return withMeta(resource, 'Group', request, times, members !== null)
}

/** Reports whether one response can hold all members of the groups. */
async function areFew(db: Db, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true
  const { rows } = await db.execute<{ n: string }>(sql`
    select count(*) as n from group_members where group_id = any(${sql.param([...ids])}::uuid[])`)
  return Number(rows[0]?.n ?? 0) <= SCIM_LIMITS.members
}

/** @throws ScimError `bad_request` with `tooMany` if a response cannot hold all members */
async function requireFew(db: Db, ids: readonly string[]): Promise<void> {
  if (await areFew(db, ids)) return
  throw new ScimError(
    'bad_request',
    'tooMany',
    `That is more than ${SCIM_LIMITS.members} members; use excludedAttributes=members, or request fewer groups`,
  )
}

/**
 * Returns a group.
 *
 * @throws ScimError `not_found`
 */
export async function findGroup(
  db: Db,
  { domainId }: ScimCaller,
  id: string,
  withMembers: boolean,
): Promise<GroupRow> {
  const { rows } = isId(id)
    ? await db.execute<GroupRow>(
        sql`select ${columns(withMembers)} ${FROM} where g.id = ${id} and ${visibleGroups(domainId)}`,
      )
    : { rows: [] }
  const [row] = rows
  if (!row) throw scimNotFound('Group', id)
  return row
}

/** Which members of a group are included. `few` includes all, or none if a response cannot hold them. */
type ToldMembers = 'none' | 'all' | 'few'

/**
 * Returns a group as a resource.
 *
 * @throws ScimError `not_found`, `tooMany` for `all` if there are too many members
 */
export async function getScimGroup(
  db: Db,
  caller: ScimCaller,
  id: string,
  told: ToldMembers,
  request: ScimRequest,
): Promise<Resource> {
  if (told === 'all' && isId(id)) await requireFew(db, [id])
  const withMembers = told === 'all' || (told === 'few' && (await areFew(db, [id])))
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
  const where = sql`${visibleGroups(domainId)} and ${condition}`
  const { rows: counted } = await db.execute<{ n: string }>(
    sql`select count(*) as n ${FROM} where ${where}`,
  )
  const total = Number(counted[0]?.n ?? 0)
  const page = sql`select g.id ${FROM} where ${where} order by g.created_at, g.id
    limit ${slice.limit} offset ${slice.offset}`
  const withMembers = wants(query.shape)('members')
  if (withMembers) {
    const { rows: ids } = await db.execute<{ id: string }>(page)
    await requireFew(db, idsOf(ids))
  }
  const { rows } = await db.execute<GroupRow>(sql`select ${columns(withMembers)} ${FROM}
    where g.id in (${page}) order by g.created_at, g.id`)
  const resources = rows.map((row) => shaped(toScimGroup(row, request), query.shape))
  return listResponse(resources, total, slice)
}

function columnAt(path: string): ScimColumn | undefined {
  const { rest } = schemaOf(path)
  switch (rest) {
    case 'id':
      return {
        ...{ kind: 'text', value: sql`g.id::text`, exact: true },
        equals: (text) => (isId(text) ? sql`g.id = ${text}` : sql`false`),
      }
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
        kind: 'reference',
        equals: (text) =>
          isId(text)
            ? sql`g.id in (select group_id from group_members where user_id = ${text})`
            : sql`false`,
      }
    : undefined
