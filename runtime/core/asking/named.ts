/** Those who decide, by name. */
import { inArray } from 'drizzle-orm'
import { MAX_DECIDERS_NAMED } from '../../contract/models/asking.ts'
import type { Db } from '../../database/database.ts'
import { groups } from '../../database/schema/people.ts'
import type { Approvers } from '../../database/schema/requests.ts'
import { usersOf } from '../directory/users.ts'

/** People and groups as an assignee of a task is told, in the order of their names; the first of many. */
export async function namesOf(db: Db, { users, groups: groupIds }: Approvers) {
  const people = await usersOf(db, users.slice(0, MAX_DECIDERS_NAMED))
  const teams =
    groupIds.length === 0
      ? []
      : await db
          .select({ id: groups.id, name: groups.name })
          .from(groups)
          .where(inArray(groups.id, groupIds.slice(0, MAX_DECIDERS_NAMED)))
  const told = [
    ...people.map(({ id, givenName, familyName, email }) => ({
      ...{ id, type: 'USER' as const, email },
      name: `${givenName} ${familyName}`.trim() || email,
    })),
    ...teams.map(({ id, name }) => ({ id, type: 'GROUP' as const, name, email: null })),
  ]
  return told.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_DECIDERS_NAMED)
}
