/**
 * People as SCIM users. Every person of the domain is one, whichever source they came from, so that a newly
 * connected provider finds them. The exception is the first admin, which the host created for its operator.
 */
import { eq, type SQL, sql } from 'drizzle-orm'
import { SCIM_URNS, USER_FIELDS } from '../../contract/models/scim.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import { isId } from '../kernel/by-id.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { FIRST_ADMIN } from '../sign-in/first-admin.ts'
import type { ScimCaller } from './caller.ts'
import { type Filter, parseFilter } from './filter.ts'
import { filterSql, type ScimColumn } from './filter-sql.ts'
import { fieldAt, schemaOf } from './paths.ts'
import { scimNotFound } from './problem.ts'
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

export type ScimUserRow = {
  id: string
  email: string
  given_name: string
  family_name: string
  status: 'STAGED' | 'ACTIVE' | 'SUSPENDED' | 'INACTIVE'
  manager_id: string | null
  manager_name: string | null
  attributes: Record<string, unknown>
  user_name: string
  external_id: string | null
  created_at: Date
  updated_at: Date
  groups: { value: string; display: string }[]
}

const IS_ACTIVE = sql`(${usersWhoMayAct('u')})`
/** Users `u` with their names at a provider, `s`. `s` is null for users that the provider deleted. */
export const PUSHED_USERS: SQL = sql`from users u left join scim_users s on s.user_id = u.id and s.deleted_at is null`
/**
 * Condition that excludes users `u` whom a provider deleted. A deleted user who is made active by another
 * source counts again, as a user whom no provider has pushed.
 */
export const NOT_DELETED: SQL = sql`(${IS_ACTIVE} or not exists (
  select from scim_users d where d.user_id = u.id and d.deleted_at is not null))`
/** Condition for users `u` whom a provider can see and may name as members or managers. */
export const visibleUsers = (domainId: string): SQL =>
  sql`u.domain_id = ${domainId} and u.email <> ${FIRST_ADMIN} and ${NOT_DELETED}`

const columns = (wanted: (name: string) => boolean): SQL => sql`
  u.id, u.email, u.given_name, u.family_name, u.status, u.manager_id, u.created_at, u.updated_at,
  u.custom_attributes as attributes, coalesce(s.user_name, u.email) as user_name, s.external_id,
  (select nullif(trim(m.given_name || ' ' || m.family_name), '') from users m where m.id = u.manager_id) as manager_name,
  ${
    wanted('groups')
      ? sql`coalesce((select json_agg(json_build_object('value', g.id, 'display', g.name) order by g.name, g.id)
          from group_members k join groups g on g.id = k.group_id where k.user_id = u.id and g.app_id is null), '[]')`
      : sql`'[]'::json`
  } as groups`

/** Row of a raw query, in which the driver returns timestamps as text. */
type RawRow = Omit<ScimUserRow, 'created_at' | 'updated_at'> & {
  created_at: string | Date
  updated_at: string | Date
}
const toRow = (row: RawRow): ScimUserRow => ({
  ...row,
  created_at: new Date(row.created_at),
  updated_at: new Date(row.updated_at),
})

/**
 * Returns a user.
 *
 * @throws ScimError `not_found`
 */
export async function findScimUser(
  db: Db,
  { domainId }: Pick<ScimCaller, 'domainId'>,
  id: string,
): Promise<ScimUserRow> {
  const { rows } = isId(id)
    ? await db.execute<RawRow>(
        sql`select ${columns(() => true)} ${PUSHED_USERS} where u.id = ${id} and ${visibleUsers(domainId)}`,
      )
    : { rows: [] }
  const [row] = rows
  if (!row) throw scimNotFound('User', id)
  return toRow(row)
}

/**
 * Returns a user and locks the row until the transaction ends. Imports, syncs, offboardings and erasures
 * change people too, without taking turns in `oneAtATime`: this lock waits for them, or they wait for it.
 *
 * @throws ScimError `not_found`
 */
export async function lockScimUser(
  tx: Db,
  caller: Pick<ScimCaller, 'domainId'>,
  id: string,
): Promise<ScimUserRow> {
  // Lock before reading: a single statement that waits for a row lock would read other tables as of before
  // the wait.
  if (isId(id))
    await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('no key update')
  return findScimUser(tx, caller, id)
}

export async function getScimUser(
  db: Db,
  caller: ScimCaller,
  id: string,
  request: ScimRequest,
): Promise<Resource> {
  return toScimUser(await findScimUser(db, caller, id), request)
}

export async function listScimUsers(
  db: Db,
  { domainId }: ScimCaller,
  query: ListQuery,
  request: ScimRequest,
) {
  const slice = sliceOf(query)
  const { condition, from } = conditionOf(query.filter, domainId)
  const where = sql`${visibleUsers(domainId)} and ${condition}`
  const { rows: counted } = await db.execute<{ n: string }>(
    sql`select count(*) as n ${from} where ${where}`,
  )
  const total = Number(counted[0]?.n ?? 0)
  const wanted = wants(query.shape)
  // Sorts ids instead of whole rows, which do not fit into memory if there are many people.
  const { rows } =
    slice.limit === 0 || slice.offset >= total
      ? { rows: [] }
      : await db.execute<RawRow>(sql`select ${columns(wanted)} ${PUSHED_USERS} where u.id in (
          select u.id ${from} where ${where} order by u.created_at, u.id limit ${slice.limit} offset ${slice.offset})
          order by u.created_at, u.id`)
  const isWhole = wanted('groups')
  const resources = rows.map((row) => shaped(toScimUser(toRow(row), request, isWhole), query.shape))
  return listResponse(resources, total, slice)
}

/** A person's attributes by lower-case name, computed once for all terms of a filter. */
const ATTRIBUTES = sql`cross join lateral (
  select jsonb_object_agg(lower(key), value ->> 'value' order by key collate "C" desc) as named
  from jsonb_each(u.custom_attributes)) held`

function conditionOf(filter: string | null, domainId: string): { condition: SQL; from: SQL } {
  if (filter === null || filter.trim() === '') return { condition: sql`true`, from: PUSHED_USERS }
  let asksAttributes = false
  const condition = filterSql(parseFilter(filter), (path) => {
    const column = columnAt(path, domainId)
    if (column === 'attribute') asksAttributes = true
    return column === 'attribute' ? attributeColumn(path) : column
  })
  return { condition, from: asksAttributes ? sql`${PUSHED_USERS} ${ATTRIBUTES}` : PUSHED_USERS }
}

function columnAt(path: string, domainId: string): ScimColumn | 'attribute' | undefined {
  const { rest } = schemaOf(path)
  switch (rest) {
    case 'id':
      return {
        ...{ kind: 'text', value: sql`u.id::text`, exact: true },
        equals: (text) => (isId(text) ? sql`u.id = ${text}` : sql`false`),
      }
    case 'meta.created':
      return { kind: 'moment', value: sql`u.created_at` }
    case 'meta.lastmodified':
      return { kind: 'moment', value: sql`u.updated_at` }
    case 'manager.value':
      return managerColumn
  }
  if (rest.startsWith('emails.')) return EMAIL_PARTS.get(rest.slice('emails.'.length))
  const field = fieldAt(rest)
  if (field === null) return undefined
  switch (field) {
    case 'userName':
      return { kind: 'text', value: sql`coalesce(s.user_name, u.email)`, equals: nameIs(domainId) }
    case 'externalId':
      return {
        ...{ kind: 'text', value: sql`s.external_id`, exact: true },
        equals: (text) => sql`u.id in (select user_id from scim_users
          where domain_id = ${domainId} and external_id = ${text} and deleted_at is null)`,
      }
    case 'givenName':
      return { kind: 'text', value: sql`u.given_name` }
    case 'familyName':
      return { kind: 'text', value: sql`u.family_name` }
    case 'active':
      return { kind: 'boolean', value: IS_ACTIVE }
    case 'email':
      return { kind: 'some', holds: emailHolds }
    case 'manager':
      return managerColumn
    default:
      return 'attribute'
  }
}

const attributeColumn = (path: string): ScimColumn => ({
  ...{ kind: 'text', value: sql`held.named ->> ${schemaOf(path).rest}::text` },
})

const managerColumn: ScimColumn = {
  ...{ kind: 'text', value: sql`u.manager_id::text`, exact: true },
  equals: (text) => (isId(text) ? sql`u.manager_id = ${text}` : sql`false`),
}

/** Uses the indexes of both names: a provider sends this query for each person. */
const nameIs =
  (domainId: string) =>
  (text: string): SQL =>
    sql`u.id in (
    select user_id from scim_users
      where domain_id = ${domainId} and lower(user_name) = lower(${text}::text) and deleted_at is null
    union all
    select o.id from users o where o.domain_id = ${domainId} and lower(o.email) = lower(${text}::text)
      and not exists (select from scim_users k where k.user_id = o.id and k.deleted_at is null))`

const emailColumn: ScimColumn = {
  ...{ kind: 'text', value: sql`u.email` },
  equals: (text) => sql`lower(u.email) = lower(${text}::text)`,
}

/** Condition on an address. There is only one, with the type work, and it is primary. */
const emailHolds = (inner: Filter): SQL => filterSql(inner, (path) => EMAIL_PARTS.get(path))

const EMAIL_PARTS: ReadonlyMap<string, ScimColumn> = new Map<string, ScimColumn>([
  ['value', emailColumn],
  ['primary', { kind: 'boolean', value: sql`true` }],
  ['type', { kind: 'text', value: sql`'work'::text` }],
])

/** Returns a person in the form of RFC 7643 section 4.1. Empty attributes are omitted. */
export function toScimUser(row: ScimUserRow, request: ScimRequest, isWhole = true): Resource {
  const { id, email, given_name: givenName, family_name: familyName, groups } = row
  const formatted = `${givenName} ${familyName}`.trim()
  const enterprise = {
    ...attributesOf(row, 'enterprise'),
    ...(row.manager_id === null
      ? {}
      : {
          manager: {
            value: row.manager_id,
            $ref: `${request.base}/Users/${row.manager_id}`,
            ...(row.manager_name === null ? {} : { displayName: row.manager_name }),
          },
        }),
  }
  const hasMore = Object.keys(enterprise).length > 0
  const resource = {
    schemas: [SCIM_URNS.user, ...(hasMore ? [SCIM_URNS.enterprise] : [])],
    id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    userName: row.user_name,
    ...(formatted === ''
      ? {}
      : {
          name: {
            formatted,
            ...(givenName === '' ? {} : { givenName }),
            ...(familyName === '' ? {} : { familyName }),
          },
        }),
    ...attributesOf(row, 'user'),
    active: row.status !== 'SUSPENDED' && row.status !== 'INACTIVE',
    emails: [{ value: email, type: 'work', primary: true }],
    ...(groups.length === 0 ? {} : { groups }),
    ...(hasMore ? { [SCIM_URNS.enterprise]: enterprise } : {}),
  }
  const times = { created: row.created_at, lastModified: row.updated_at }
  return withMeta(resource, 'User', request, times, isWhole)
}

function attributesOf(
  { attributes }: ScimUserRow,
  of: 'user' | 'enterprise',
): Record<string, string> {
  return Object.fromEntries(
    entriesOf(USER_FIELDS).flatMap(([, field]) => {
      if (field.kept !== 'attribute' || field.of !== of) return []
      const value = heldAttribute(attributes, field.path)
      return value === null ? [] : [[field.path, value] as const]
    }),
  )
}

/**
 * Returns the name under which a custom attribute is stored, whichever source named it. Names are compared
 * without case.
 */
export const keptName = (attributes: Record<string, unknown>, name: string): string =>
  Object.keys(attributes).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name

function heldAttribute(attributes: Record<string, unknown>, name: string): string | null {
  const { value } = membersOf(attributes[keptName(attributes, name)])
  return typeof value === 'string' && value !== '' ? value : null
}
