/** Finds the person that a form names, by address or full name, and the group, by its name. */
import { listGroups, listUsers } from '../../core/directory/users.ts'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import type { Db } from '../../database/database.ts'

/** Null where there is none, or several go by that name. */
export async function personNamed(
  db: Db,
  principal: Principal,
  text: string,
): Promise<{ id: string } | null> {
  if (text === '') return null
  const wanted = { search_term: text, exact_match: true, sort: null, expand: [], page: 1, size: 2 }
  const { items } = await listUsers(db, principal, wanted)
  const [person] = items
  return person && items.length === 1 ? person : null
}

/** Null where there is none, or several have that name. */
export async function groupNamed(
  db: Db,
  principal: Principal,
  name: string,
): Promise<{ id: string } | null> {
  const { items } = await listGroups(db, principal, {
    ...{ integration_specific_id: null, name, exact_match: true, app_id: null, page: 1, size: 2 },
  })
  const [group] = items
  return group && items.length === 1 ? group : null
}
