/** Facts about a person other than name and state: manager, attributes, names at an identity provider. */
import { membersOf } from '../../contract/schema/record.ts'
import { factsOfUser } from '../../core/directory/facts.ts'
import type { getUser } from '../../core/directory/users.ts'
import type { Markup } from '../frame/layout.ts'
import { nameOf } from '../frame/words.ts'
import { brief } from './parts.ts'
import { personLink } from './person-link.ts'
import type { ConsoleVisit } from './visit.ts'

type Known = Awaited<ReturnType<typeof getUser>>
type Row = [name: string, value: Markup | string]

/** Returns a row for each known fact. */
export async function knownOf(
  { db, principal, t }: ConsoleVisit,
  { id, email, custom_attributes }: Known,
): Promise<Row[]> {
  const w = t.console.person
  const { manager, pushed } = await factsOfUser(db, principal, id)
  const rows: Row[] = []
  if (manager !== null) rows.push([w.manager, personLink(principal, manager.id, nameOf(manager))])
  if (pushed !== null && pushed.userName.toLowerCase() !== email.toLowerCase())
    rows.push([w.pushedName, pushed.userName])
  if (pushed !== null && pushed.externalId !== null) rows.push([w.pushedId, pushed.externalId])
  return [...rows, ...attributesOf(custom_attributes)]
}

/** Returns the attributes that policy conditions can use, from any source. */
const attributesOf = (all: Known['custom_attributes']): Row[] =>
  Object.entries(all ?? {}).flatMap(([name, attribute]) => {
    const { value } = membersOf(attribute)
    return typeof value === 'string' && value !== '' ? [[name, brief(value)]] : []
  })
