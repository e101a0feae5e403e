/** People and groups who can currently act on requests, and the managers of people. */
import { and, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import type { PeopleAndGroups, RequestRow } from '../../database/schema/requests.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'

/** Requester and target user of a request. */
export type Parties = Pick<RequestRow, 'requesterId' | 'targetUserId'>
/** Returns the parties of a request, who may not decide on it: its requester and its target user. */
export const partiesOf = ({ requesterId, targetUserId }: Parties): string[] => [
  ...new Set([targetUserId, ...(requesterId === null ? [] : [requesterId])]),
]

/** People and groups that can act. A group is listed with its first members who can. */
export type Able = { users: ReadonlySet<string>; groups: ReadonlyMap<string, readonly string[]> }

/** One more than a request has parties, so that among as many members at least one is not a party. */
const MEMBERS_LOOKED_AT = 3

/** Removes duplicates from ids. */
export const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]

/** Returns which of the named people and groups can act now. */
export async function ableOf(db: Db, all: readonly PeopleAndGroups[]): Promise<Able> {
  const people = distinct(all.flatMap((one) => one.users))
  const teams = distinct(all.flatMap((one) => one.groups))
  const rows =
    people.length === 0
      ? []
      : await db
          .select({ id: users.id })
          .from(users)
          .where(and(inArray(users.id, people), usersWhoMayAct(users)))
  const { rows: groups } =
    teams.length === 0
      ? { rows: [] }
      : await db.execute<{ id: string; members: string[] }>(sql`
          select one.id, array(
            select m.user_id from group_members m join users u on u.id = m.user_id
            where m.group_id = one.id and ${usersWhoMayAct('u')}
            limit ${MEMBERS_LOOKED_AT}) as members
          from unnest(${sql.param(teams)}::uuid[]) as one (id)`)
  return {
    users: new Set(rows.map(({ id }) => id)),
    groups: new Map(groups.map(({ id, members }) => [id, members])),
  }
}

/** Returns the named people and groups who may decide on a request, or null if there are none. */
export function eligibleOf(
  able: Able,
  request: Parties,
  { users: people, groups }: PeopleAndGroups,
) {
  const parties = partiesOf(request)
  const isOther = (id: string): boolean => !parties.includes(id)
  const found = {
    users: distinct(people).filter((id) => able.users.has(id) && isOther(id)),
    groups: distinct(groups).filter((id) => able.groups.get(id)?.some(isOther)),
  }
  return found.users.length + found.groups.length > 0 ? found : null
}

/** Like `eligibleOf`, using the current state of the database. */
export const eligible = async (
  db: Db,
  request: Parties,
  named: PeopleAndGroups,
): Promise<PeopleAndGroups | null> => eligibleOf(await ableOf(db, [named]), request, named)

/** Maximum length of a chain of managers. */
const MAX_MANAGERS = 50

/** Returns the managers above each person, nearest first. A cyclic chain ends where it closes. */
export async function managersOf(
  db: Db,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (userIds.length === 0) return new Map()
  const { rows } = await db.execute<{ below: string; above: string[] }>(sql`
    with recursive chain (below, id, above) as (
      select one.id, u.manager_id, array[one.id] from unnest(${sql.param(distinct(userIds))}::uuid[]) as one (id)
        join users u on u.id = one.id
      union all
      select chain.below, u.manager_id, chain.above || chain.id from chain join users u on u.id = chain.id
        where chain.id <> all(chain.above) and cardinality(chain.above) <= ${MAX_MANAGERS}
    )
    select distinct on (below) below, above[2:] as above from chain order by below, cardinality(above) desc`)
  return new Map(rows.map(({ below, above }) => [below, above]))
}
