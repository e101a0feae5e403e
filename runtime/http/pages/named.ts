/** Finds the person that a form names by address or full name, and the group by name. */
import { queryOf } from '../../contract/endpoints/table.ts'
import { listGroups, listUsers } from '../../core/directory/users.ts'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import type { Db } from '../../database/database.ts'

/** Returns the person, or null if none or several match. */
export async function personNamed(
  db: Db,
  principal: Principal,
  text: string,
): Promise<{ id: string } | null> {
  if (text === '') return null
  const wanted = queryOf('list_users', { search_term: text, exact_match: true, size: 2 })
  const { items } = await listUsers(db, principal, wanted)
  const [person] = items
  return person && items.length === 1 ? person : null
}

/** Returns the group, or null if none or several match. */
export async function groupNamed(
  db: Db,
  principal: Principal,
  name: string,
): Promise<{ id: string } | null> {
  const wanted = queryOf('list_groups', { name, exact_match: true, size: 2 })
  const { items } = await listGroups(db, principal, wanted)
  const [group] = items
  return group && items.length === 1 ? group : null
}
