/** Which people and groups can act on requests now, and who their managers are. */
import { and, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { users } from '../../database/schema/people.ts'
import type { Approvers, RequestRow } from '../../database/schema/requests.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'

/** Who a request is of and for. */
export type Parties = Pick<RequestRow, 'requesterId' | 'targetUserId'>
/** Those who may not decide on a request: who asked, and who is to have the access. */
export const partiesOf = ({ requesterId, targetUserId }: Parties): string[] => [
  ...new Set([targetUserId, ...(requesterId === null ? [] : [requesterId])]),
]

/** People and groups that can act. A group is listed with its first members who can. */
export type Able = { users: ReadonlySet<string>; groups: ReadonlyMap<string, readonly string[]> }

/** One more than there are parties of a request: among so many members one is no party. */
const MEMBERS_LOOKED_AT = 3

export const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]

export async function ableOf(db: Db, all: readonly Approvers[]): Promise<Able> {
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

/** Those of some who may decide on a request; null where nobody is left. */
export function eligibleOf(able: Able, request: Parties, { users: people, groups }: Approvers) {
  const parties = partiesOf(request)
  const isOther = (id: string): boolean => !parties.includes(id)
  const found = {
    users: distinct(people).filter((id) => able.users.has(id) && isOther(id)),
    groups: distinct(groups).filter((id) => able.groups.get(id)?.some(isOther)),
  }
  return found.users.length + found.groups.length > 0 ? found : null
}

/** The same as things are now. */
export const eligible = async (
  db: Db,
  request: Parties,
  named: Approvers,
): Promise<Approvers | null> => eligibleOf(await ableOf(db, [named]), request, named)

/** Longest chain of managers that is followed. */
const MAX_MANAGERS = 50

/** Who is above each of some people, the nearest first; a chain that closes to a ring ends. */
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
