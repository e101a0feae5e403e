/** How precise "last used" is: not every request is worth a write. */
import { sql } from 'drizzle-orm'
import { apiTokens } from '../../database/schema/people.ts'

/** Whether a use within the last minute is noted, by the database's clock; what is noted of the future is not. */
export const USED_LATELY = sql<boolean>`coalesce(
  ${apiTokens.lastUsedAt} between now() - interval '1 minute' and now() + interval '1 minute', false)`
