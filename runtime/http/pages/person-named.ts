/** Finds the person that a form names, by address or full name. */
import { listUsers } from '../../core/directory/users.ts'
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
