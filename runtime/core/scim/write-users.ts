/** Creates, changes, deactivates and deletes users for a provider. Setting a value again changes nothing. */
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { USER_FIELDS } from '../../contract/models/scim.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { isTaken } from '../../database/contention.ts'
import { type Db, written } from '../../database/database.ts'
import { userRoles, users } from '../../database/schema/people.ts'
import { scimUsers } from '../../database/schema/scim.ts'
import { identityEvents } from '../../database/schema/sync.ts'
import { userTarget } from '../directory/users.ts'
import { recordLeaver } from '../history/spans.ts'
import { isId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { deactivate, reactivate } from './active.ts'
import { oneAtATime, recordPush, type ScimCaller } from './caller.ts'
import { claimNames } from './names.ts'
import { duplicate, invalidValue } from './problem.ts'
import {
  findScimUser,
  getScimUser,
  keptName,
  lockScimUser,
  type ScimUserRow,
  toScimUser,
  visibleUsers,
} from './read-users.ts'
import { type Resource, requireVersion, type ScimRequest } from './resource.ts'
import { emailOf, type UserValues, valuesOfResource } from './user-fields.ts'

export type PushDeps = Pick<CoreContext, 'send' | 'now' | 'listeners'>
type Body = Record<string, unknown>

/**
 * Creates a person. If the address belonged to a person whom the provider deleted, it may now be another
 * person's: they get a new record and inherit nothing.
 *
 * @throws ScimError `bad_request`, `conflict` with `uniqueness`
 */
export async function createUser(
  db: Db,
  caller: ScimCaller,
  body: Body,
  request: ScimRequest,
  deps: PushDeps,
): Promise<Resource> {
  const values = valuesOfResource(body)
  const { userName } = values
  if (!userName) throw invalidValue('userName is missing')
  requireText(userName)
  const email = emailOf(values.email, userName)
  const id = await named(db, caller, async (tx) => {
    const addressOf = await claimNames(tx, caller, { userName, email, self: null })
    const userId = await insertUser(tx, caller, email, values.active ?? true)
    const name = { userName, externalId: values.externalId ?? null }
    await tx.insert(scimUsers).values({ userId, domainId: caller.domainId, ...name })
    const row = await findScimUser(tx, caller, userId)
    await writeDifferences(tx, caller, row, values, deps)
    await recordPush(tx, caller, 'USER_PUSHED', userTarget({ id: userId, email }), {
      ...(addressOf === null ? {} : { address_of: addressOf }),
    })
    return userId
  })
  return getScimUser(db, caller, id, request)
}

async function insertUser(
  tx: Db,
  { domainId }: ScimCaller,
  email: string,
  active: boolean,
): Promise<string> {
  const status = active ? ('ACTIVE' as const) : ('SUSPENDED' as const)
  const [row] = await tx.insert(users).values({ domainId, email, status }).returning()
  const { id } = written(row)
  await tx.insert(identityEvents).values([
    { domainId, userId: id, changedField: 'email', newValue: email },
    { domainId, userId: id, changedField: 'status', newValue: status },
  ])
  return id
}

/** Changes a user: replaces it (`replaced`) or applies operations (`valuesOfPatch`). */
export async function changeUser(
  db: Db,
  caller: ScimCaller,
  id: string,
  valuesOf: (row: ScimUserRow) => UserValues,
  request: ScimRequest,
  deps: PushDeps,
): Promise<Resource> {
  await named(db, caller, async (tx) => {
    const row = await lockScimUser(tx, caller, id)
    requireVersion(request, toScimUser(row, request))
    await takeUpAgain(tx, row)
    const { fields, addressOf } = await writeDifferences(tx, caller, row, valuesOf(row), deps)
    if (fields.length > 0)
      await recordPush(tx, caller, 'PUSHED_USER_CHANGED', userTarget(row), {
        fields,
        ...(addressOf === null ? {} : { address_of: addressOf }),
      })
  })
  return getScimUser(db, caller, id, request)
}

/** Restores the provider's record of a user that it deleted and that another source has made active since. */
async function takeUpAgain(tx: Db, { id, user_name: userName }: ScimUserRow): Promise<void> {
  await tx
    .update(scimUsers)
    .set({ userName, externalId: null, deletedAt: null })
    .where(and(eq(scimUsers.userId, id), isNotNull(scimUsers.deletedAt)))
}

/** Deletes a person for the provider. They are offboarded, and their record stays. */
export async function deleteUser(
  db: Db,
  caller: ScimCaller,
  id: string,
  request: ScimRequest,
  deps: PushDeps,
): Promise<null> {
  await oneAtATime(db, caller, async (tx) => {
    const row = await lockScimUser(tx, caller, id)
    requireVersion(request, toScimUser(row, request))
    const changed = await deactivate(tx, caller, row, deps)
    const left = await leaveGroups(tx, caller, id)
    await loseRoles(tx, caller, row)
    if (changed || left > 0) await deps.listeners.usersChanged(tx, caller.domainId, [id], deps)
    const deletedAt = await deps.now(tx)
    await tx
      .insert(scimUsers)
      .values({ userId: id, domainId: caller.domainId, userName: row.user_name, deletedAt })
      .onConflictDoUpdate({ target: scimUsers.userId, set: { deletedAt } })
    await recordPush(tx, caller, 'PUSHED_USER_DELETED', userTarget(row))
  })
  return null
}

/**
 * Removes a person from the company's own groups (RFC 7644 section 3.6). Groups of apps are left to the apps.
 *
 * @returns the number of groups
 */
async function leaveGroups(tx: Db, { domainId }: ScimCaller, userId: string): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    with gone as (delete from group_members m using groups g
      where m.user_id = ${userId} and g.id = m.group_id and g.app_id is null returning g.name)
    insert into identity_events (domain_id, user_id, changed_field, old_value)
    select ${domainId}, ${userId}::uuid, 'groups', name from gone`)
  const left = rowCount ?? 0
  if (left > 0) await recordLeaver(tx, userId)
  return left
}

/** Removes all roles: the next user with this address may be another person. */
async function loseRoles(tx: Db, caller: ScimCaller, row: ScimUserRow): Promise<void> {
  const lost = await tx.delete(userRoles).where(eq(userRoles.userId, row.id)).returning()
  for (const { role } of lost)
    await recordPush(tx, caller, 'USER_ROLE_REMOVED', userTarget(row), { role })
}

/**
 * Runs a change that takes names. Imports and sign-ins take names without waiting for pushes.
 *
 * @throws ScimError `conflict`
 */
async function named<T>(db: Db, caller: ScimCaller, act: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await oneAtATime(db, caller, act)
  } catch (error) {
    if (isTaken(error)) throw duplicate('Another user has this userName or address')
    throw error
  }
}

type Change = {
  /** Names of the fields that changed. */
  fields: string[]
  /** Id of the deleted person who gave up the address that the person has now. */
  addressOf: string | null
}

/** Writes the fields that differ. */
async function writeDifferences(
  tx: Db,
  caller: ScimCaller,
  row: ScimUserRow,
  values: UserValues,
  deps: PushDeps,
): Promise<Change> {
  const { domainId } = caller
  if (values.userName === null) throw invalidValue('userName cannot be removed')
  const next = await nextOf(tx, caller, row, values)
  const told = differences(row, next)
  const { userName, email } = next
  const isNamed = row.email !== email || row.user_name !== userName
  const addressOf = isNamed ? await claimNames(tx, caller, { userName, email, self: row.id }) : null
  // Also for a change of only the name at the provider: it updates the person's time of change.
  if (told.length > 0)
    await tx
      .update(users)
      .set({
        ...{ email: next.email, givenName: next.givenName, familyName: next.familyName },
        ...{ managerId: next.managerId, customAttributes: next.attributes },
      })
      .where(eq(users.id, row.id))
  const name = { userName, externalId: next.externalId }
  if (told.length > 0)
    await tx
      .insert(scimUsers)
      .values({ userId: row.id, domainId, ...name })
      .onConflictDoUpdate({ target: scimUsers.userId, set: name })
  if (told.length > 0)
    await tx.insert(identityEvents).values(
      told.map(({ field, before, after }) => ({
        ...{ domainId, userId: row.id, changedField: field },
        ...{ oldValue: before, newValue: after },
      })),
    )
  const { active } = values
  const moved =
    active === false
      ? await deactivate(tx, caller, row, deps)
      : active === true && (await reactivate(tx, caller, row))
  const fields = [...told.map(({ field }) => field), ...(moved ? ['status'] : [])]
  if (fields.length > 0) await deps.listeners.usersChanged(tx, domainId, [row.id], deps)
  return { fields, addressOf }
}

type Next = {
  userName: string
  externalId: string | null
  email: string
  givenName: string
  familyName: string
  managerId: string | null
  attributes: Record<string, unknown>
}

/** @throws ScimError `bad_request` */
function requireText(userName: string): void {
  if (userName.trim() === '') throw invalidValue('userName is blank')
}

/**
 * Returns the person as they are to be.
 *
 * @throws ScimError `bad_request`
 */
async function nextOf(
  tx: Db,
  caller: ScimCaller,
  row: ScimUserRow,
  values: UserValues,
): Promise<Next> {
  const userName = values.userName ?? row.user_name
  requireText(userName)
  // If the user name was the address, a new user name changes the address too. A separate address is kept.
  const sameBefore = row.user_name.toLowerCase() === row.email.toLowerCase()
  const follows = values.email === undefined && sameBefore && userName !== row.user_name
  const email =
    values.email !== undefined || follows ? emailOf(values.email ?? null, userName) : row.email
  return {
    userName,
    email,
    externalId: values.externalId === undefined ? row.external_id : values.externalId,
    givenName: values.givenName === undefined ? row.given_name : (values.givenName ?? ''),
    familyName: values.familyName === undefined ? row.family_name : (values.familyName ?? ''),
    managerId:
      values.manager === undefined
        ? row.manager_id
        : await managerOf(tx, caller, row, values.manager),
    attributes: attributesOf(row.attributes, values),
  }
}

/**
 * Returns the id of the manager.
 *
 * @throws ScimError `bad_request` if the manager does not exist or is the person
 */
async function managerOf(
  tx: Db,
  { domainId }: ScimCaller,
  { id: self, manager_id: held }: ScimUserRow,
  id: string | null,
): Promise<string | null> {
  // A deleted manager is kept if a provider sends the whole person again.
  if (id === null || id === held) return id
  const { rows } = isId(id)
    ? await tx.execute<{ id: string }>(sql`
        select u.id from users u where u.id = ${id} and ${visibleUsers(domainId)}`)
    : { rows: [] }
  const [found] = rows
  if (!found) throw invalidValue('manager is not the id of a user of this domain')
  if (found.id === self)
    throw invalidValue('manager is the person: people cannot manage themselves')
  const { rows: circle } = await tx.execute<{ id: string }>(sql`
    with recursive above(id) as (
      select ${found.id}::uuid union select u.manager_id from users u join above on u.id = above.id
      where u.manager_id is not null
    ) select id from above where id = ${self}`)
  if (circle.length > 0) throw invalidValue('manager would make the managers form a cycle')
  return found.id
}

function attributesOf(held: Record<string, unknown>, values: UserValues): Record<string, unknown> {
  const next = { ...held }
  for (const [field, { path, kept }] of entriesOf(USER_FIELDS)) {
    const value = values[field]
    if (kept !== 'attribute' || value === undefined) continue
    const name = keptName(next, path)
    if (value === null) delete next[name]
    else next[name] = { type: 'TEXT', value }
  }
  return next
}

type Difference = { field: string; before: string | null; after: string | null }

function differences(row: ScimUserRow, next: Next): Difference[] {
  const text = (value: unknown): string | null =>
    value === undefined || value === null ? null : String(value)
  const held = (of: Record<string, unknown>, name: string) => text(membersOf(of[name])['value'])
  const names = new Set([...Object.keys(row.attributes), ...Object.keys(next.attributes)])
  const all: [string, string | null, string | null][] = [
    ['user_name', row.user_name, next.userName],
    ['external_id', row.external_id, next.externalId],
    ['email', row.email, next.email],
    ['given_name', row.given_name, next.givenName],
    ['family_name', row.family_name, next.familyName],
    ['manager_id', row.manager_id, next.managerId],
    ...[...names].map((name): [string, string | null, string | null] => [
      `custom_attributes.${name}`,
      held(row.attributes, name),
      held(next.attributes, name),
    ]),
  ]
  return all.flatMap(([field, before, after]) =>
    before === after ? [] : [{ field, before, after }],
  )
}
