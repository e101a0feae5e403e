/** What was seen of registries that are folders of files. */
import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { domainId, moment, number } from './columns.ts'
import { domains } from './people.ts'

/** The newest index of each publisher: an older one is refused from then on. */
export const publishedIndexes = pgTable(
  'published_indexes',
  {
    domainId: domainId().references(() => domains.id),
    /** Id of the key that signed it. */
    key: text('key').notNull(),
    version: number('version').notNull(),
    seenAt: moment('seen_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.domainId, table.key] })],
)
