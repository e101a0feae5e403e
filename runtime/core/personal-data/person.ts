/** A person, and the texts by which others may have referred to them. */
import { sql } from 'drizzle-orm'
import { notFound } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { type UserRow, users } from '../../database/schema/people.ts'

/**
 * Returns the person with an address.
 *
 * @throws CoreError `not_found` if nobody has the address
 */
export async function personOf(db: Db, domainId: string, email: string): Promise<UserRow> {
  const [row] = await db
    .select()
    .from(users)
    .where(sql`${users.domainId} = ${domainId} and lower(${users.email}) = lower(${email})`)
  if (!row) throw notFound('User')
  return row
}

/** Minimum length of a name, in characters. Shorter names occur in too many other words. */
const LEAST = 3

/**
 * Returns the texts that identify the person anywhere: addresses, including those of accounts, and the full
 * name.
 */
export async function namesAnywhere(db: Db, person: UserRow): Promise<string[]> {
  const { rows } = await db.execute<{ text: string | null }>(sql`
    select email as text from accounts where user_id = ${person.id}
    union select unique_identifier from accounts where user_id = ${person.id}
    union select email from account_spans where user_id = ${person.id}
    union select unique_identifier from account_spans where user_id = ${person.id}`)
  const addresses = rows.flatMap(({ text }) => (text?.includes('@') ? [text] : []))
  const { email, givenName, familyName } = person
  const whole = givenName && familyName ? [`${givenName} ${familyName}`] : []
  return distinct([email, ...addresses, ...whole])
}

/**
 * Returns the texts that identify the person in rows about them: given name, family name, and ids of
 * accounts.
 */
export async function namesNearby(db: Db, person: UserRow): Promise<string[]> {
  const { rows } = await db.execute<{ text: string }>(sql`
    select unique_identifier as text from accounts where user_id = ${person.id}
    union select unique_identifier from account_spans where user_id = ${person.id}`)
  return distinct([person.givenName, person.familyName, ...rows.map(({ text }) => text)])
}

const distinct = (texts: readonly string[]): string[] =>
  [...new Set(texts.map((text) => text.trim()))].filter((text) => text.length >= LEAST)
