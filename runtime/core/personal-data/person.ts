/** A person, and the texts by which others may have referred to them. */
import { type SQL, sql } from 'drizzle-orm'
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

/** Minimum number of letters of an account's id that is searched for everywhere. */
const LEAST_OF_ID = 6

/**
 * Condition for accounts that belong to the person, or belonged to nobody else when they were removed.
 *
 * @param a the table or alias of the accounts
 */
export const theirAccounts = (userId: string, a: SQL = sql`accounts`): SQL =>
  sql`(${a}.user_id = ${userId} or ${a}.user_id is null and ${a}.gone_at is not null
    and ${a}.id in (select s.account_id from account_spans s where s.user_id = ${userId})
    and not exists (select 1 from account_spans s where s.account_id = ${a}.id and s.user_id <> ${userId}))`

/** Spans of the person's accounts, but not of the time when these belonged to others. */
const theirSpans = (userId: string): SQL =>
  sql`(user_id = ${userId} or user_id is null
    and account_id in (select id from accounts where ${theirAccounts(userId)}))`

/**
 * Returns the texts that identify the person anywhere: addresses, including those of accounts, the full name,
 * and ids of accounts that are made of the name.
 */
export async function namesAnywhere(db: Db, person: UserRow): Promise<string[]> {
  const { email, givenName, familyName } = person
  const known = await textsOfAccounts(db, person.id)
  const theirs = known.filter((text) => text.includes('@') || isMadeOfName(text, person))
  const whole = givenName && familyName ? [`${givenName} ${familyName}`] : []
  return distinct([email, ...theirs, ...whole])
}

/**
 * Returns the texts that identify the person in rows about them: given name, family name, and ids and user
 * names of accounts.
 */
export async function namesNearby(db: Db, person: UserRow): Promise<string[]> {
  const known = await textsOfAccounts(db, person.id)
  return distinct([person.givenName, person.familyName, ...known])
}

/** Returns the ids, user names and addresses of the person's accounts, past ones included. */
async function textsOfAccounts(db: Db, id: string): Promise<string[]> {
  const { rows } = await db.execute<{ text: string | null }>(sql`
    with own as (select * from accounts where ${theirAccounts(id)}),
      past as (select * from account_spans where ${theirSpans(id)})
    select email as text from own union select unique_identifier from own
    union select attributes ->> 'username' from own
    union select email from past union select unique_identifier from past`)
  return rows.flatMap(({ text }) => (text === null ? [] : [text]))
}

/** Whether an id consists of the person's names, or of one name and the other's initial, like `abyron`. */
function isMadeOfName(id: string, { givenName, familyName }: UserRow): boolean {
  const [all, given, family] = [id, givenName, familyName].map((text) =>
    text.normalize('NFKD').toLowerCase().replaceAll(/\P{L}/gu, ''),
  )
  if (!all || !given || !family || all.length < LEAST_OF_ID) return false
  const [g = '', f = ''] = [[...given][0], [...family][0]]
  return [given + family, family + given, g + family, family + g, given + f, f + given].includes(
    all,
  )
}

const distinct = (texts: readonly string[]): string[] =>
  [...new Set(texts.map((text) => text.trim()))].filter((text) => text.length >= LEAST)
