/** Attributes of accounts and users by the names that rules and mappings call them. */
import { type SQL, sql } from 'drizzle-orm'

/** Columns of an account that have a name of their own, unlike its custom attributes. */
const COLUMNS: Record<string, SQL> = {
  integration_specific_id: sql.raw('a.unique_identifier'),
  email: sql.raw('a.email'),
  given_name: sql.raw('a.given_name'),
  family_name: sql.raw('a.family_name'),
}

/** Names that are no custom attributes. */
export const sameAttribute: readonly string[] = [...Object.keys(COLUMNS), 'username']

/** An attribute of the account `a`, as text in SQL. */
export const accountAttribute = (name: string): SQL =>
  COLUMNS[name] ?? sql`(a.attributes ->> ${name})`

/** An attribute of the user `u`, as text in SQL. */
export const userAttribute = (name: string): SQL =>
  name === 'email' ? sql`lower(u.email)` : sql`lower(u.custom_attributes -> ${name} ->> 'value')`

/** Whether the address of the account `a` may be a user's (core/directory/import/row.ts). */
export const hasEmail: SQL = sql.raw(
  `(length(a.email) <= 254 and a.email ~ '^[^[:space:][:cntrl:]@"(),:;<>]{1,64}@[^[:space:][:cntrl:]@"(),:;<>]+$')`,
)
