/** Attributes of accounts and users, by the names used in rules and mappings. */
import { type SQL, sql } from 'drizzle-orm'

/** Named columns of an account, as opposed to its custom attributes. */
const COLUMNS: Record<string, SQL> = {
  integration_specific_id: sql.raw('a.unique_identifier'),
  email: sql.raw('a.email'),
  given_name: sql.raw('a.given_name'),
  family_name: sql.raw('a.family_name'),
}

/** Names that are not custom attributes. */
export const sameAttribute: readonly string[] = [...Object.keys(COLUMNS), 'username']

/** Returns an SQL expression for an attribute of the account `a`, as text. */
export const accountAttribute = (name: string): SQL =>
  COLUMNS[name] ?? sql`(a.attributes ->> ${name})`

/** Returns an SQL expression for an attribute of the user `u`, as text. */
export const userAttribute = (name: string): SQL =>
  name === 'email' ? sql`lower(u.email)` : sql`lower(u.custom_attributes -> ${name} ->> 'value')`

/** Condition: the address of the account `a` is valid for a user (core/directory/import/row.ts). */
export const hasEmail: SQL = sql.raw(
  `(length(a.email) <= 254 and a.email ~ '^[^[:space:][:cntrl:]@"(),:;<>]{1,64}@[^[:space:][:cntrl:]@"(),:;<>]+$')`,
)
