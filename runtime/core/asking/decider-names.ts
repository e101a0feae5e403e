/** Names of deciders. */
import { type DecisionStep, MAX_DECIDERS_NAMED } from '../../contract/models/asking.ts'
import type { Db } from '../../database/database.ts'
import type { PeopleAndGroups } from '../../database/schema/requests.ts'
import { groupsByName, usersOf } from '../directory/users.ts'

type Decider = DecisionStep['deciders'][number]

const first = (ids: readonly string[]): readonly string[] => ids.slice(0, MAX_DECIDERS_NAMED)

/** Returns people and groups as assignees, sorted by name. Long lists are truncated. */
export async function namesOfAll(db: Db, all: readonly PeopleAndGroups[]): Promise<Decider[][]> {
  const people = await usersOf(db, [...new Set(all.flatMap((one) => first(one.users)))])
  const teams = await groupsByName(
    db,
    all.flatMap((one) => first(one.groups)),
  )
  const told = new Map<string, Decider>()
  for (const { id, givenName, familyName, email } of people)
    told.set(id, { id, type: 'USER', email, name: `${givenName} ${familyName}`.trim() || email })
  for (const { id, name } of teams) told.set(id, { id, type: 'GROUP', name, email: null })
  return all.map(({ users, groups: own }) =>
    [...first(users), ...first(own)]
      .flatMap((id) => told.get(id) ?? [])
      .sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
      .slice(0, MAX_DECIDERS_NAMED),
  )
}
