/** SQL for attributes of the person `u`. */
import { type SQL, sql } from 'drizzle-orm'

/** Returns SQL for an attribute of the person. Ignores case in its name, since sources differ in it. */
export const attribute = (name: string): SQL => sql`(select nullif(one.value ->> 'value', '')
  from jsonb_each(u.custom_attributes) one where lower(one.key) = ${name} order by one.key limit 1)`
