/** The names of the custom attributes that people have. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'

/** Users that are looked at: the attributes of one source are the same for all of its people. */
const LOOKED = 1000
const MOST_NAMES = 200

/** Names of custom attributes, by their letters; of some users, as suggestions. */
export async function attributeNames(db: Db, domainId: string): Promise<string[]> {
  const { rows } = await db.execute<{ name: string }>(sql`
    select distinct name from (
      select custom_attributes from users where domain_id = ${domainId} order by id desc limit ${LOOKED}) some_users,
      jsonb_object_keys(custom_attributes) name order by name limit ${MOST_NAMES}`)
  return rows.map(({ name }) => name)
}
