/** Attributes of the person `u`, as SQL. */
import { type SQL, sql } from 'drizzle-orm'

/** An attribute of the person, small or capital letters alike: sources write both. */
export const attribute = (name: string): SQL => sql`(select nullif(one.value ->> 'value', '')
  from jsonb_each(u.custom_attributes) one where lower(one.key) = ${name} order by one.key limit 1)`
