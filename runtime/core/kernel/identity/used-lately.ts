/** Precision of "last used": not every request causes a write. */
import { sql } from 'drizzle-orm'
import { apiTokens } from '../../../database/schema/people.ts'

/**
 * Condition: a use within the last minute is stored, by the database's clock. A time in the future does not
 * count.
 */
export const USED_LATELY = sql<boolean>`coalesce(
  ${apiTokens.lastUsedAt} between now() - interval '1 minute' and now() + interval '1 minute', false)`
