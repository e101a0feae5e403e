/** Precision of "last used": not every request causes a write. */
import { sql } from 'drizzle-orm'
import { apiTokens } from '../../../database/schema/people.ts'

/** Whether a use within the last minute is stored, by the database's clock; times in the future do not count. */
export const USED_LATELY = sql<boolean>`coalesce(
  ${apiTokens.lastUsedAt} between now() - interval '1 minute' and now() + interval '1 minute', false)`
