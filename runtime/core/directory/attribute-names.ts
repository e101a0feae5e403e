/** Names of the custom attributes of people. */
import { sql } from 'drizzle-orm'
import { IDENTITY_MEMBERS } from '../../contract/models/condition.ts'
import { tableOf } from '../../contract/schema/keys.ts'
import type { Db } from '../../database/database.ts'
import type { Tell } from '../kernel/context/context.ts'
import { attributeOf } from './condition.ts'

/** Maximum number of users examined for suggestions. People from one source have the same attributes. */
const LOOKED = 1000
const MAX_NAMES = 200

/**
 * Maximum number of users searched for an attribute (0.4 s of database time), and of names compared. Above
 * either limit nothing is reported.
 */
const MAX_SEARCHED_USERS = 200_000
const MAX_COMPARED = 10_000

/** Returns names of custom attributes in alphabetical order, taken from some of the users, as suggestions. */
export const attributeNames = (db: Db, domainId: string): Promise<string[]> =>
  namesOf(db, domainId, { looked: LOOKED, most: MAX_NAMES })

/**
 * Returns those of the given attribute paths that no person has. Empty if there are more people than are
 * examined.
 */
export async function unusedAttributes(
  db: Db,
  domainId: string,
  paths: readonly string[],
  mostLooked = MAX_SEARCHED_USERS,
): Promise<string[]> {
  const members = tableOf(IDENTITY_MEMBERS.map((name) => [name, null] as const))
  const missing = (names: readonly string[]) => {
    const customAttributes = Object.fromEntries(names.map((name) => [name, true]))
    return paths.filter((path) => attributeOf(path, { members, customAttributes }) === undefined)
  }
  if (missing([]).length === 0) return []
  const names = await namesOf(db, domainId, { looked: mostLooked, most: MAX_COMPARED })
  const found = names.length < MAX_COMPARED ? missing(names) : []
  return found.length > 0 && (await hasMoreUsers(db, domainId, mostLooked)) ? [] : found
}

async function hasMoreUsers(db: Db, domainId: string, than: number): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from users where domain_id = ${domainId} order by id offset ${than} limit 1`)
  return rows.length > 0
}

type Told = { tell: Tell; about: Readonly<Record<string, string>> }

/**
 * Logs a warning if no person has some of the given attribute paths, because conditions on them match nobody.
 */
export async function warnOfUnusedAttributes(
  db: Db,
  domainId: string,
  paths: readonly string[],
  { tell, about }: Told,
): Promise<void> {
  const { length: attributes } = await unusedAttributes(db, domainId, paths)
  const words = 'it uses attributes that no person has, so it matches no one through them'
  if (attributes > 0) tell('warn', { ...about, attributes }, words)
}

async function namesOf(
  db: Db,
  domainId: string,
  { looked, most }: { looked: number; most: number },
): Promise<string[]> {
  const { rows } = await db.execute<{ name: string }>(sql`
    select distinct name from (
      select custom_attributes from users where domain_id = ${domainId} order by id desc limit ${looked}) some_users,
      jsonb_object_keys(custom_attributes) name order by name limit ${most}`)
  return rows.map(({ name }) => name)
}
