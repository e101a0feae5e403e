/** Answers that several hosts wait for together: who finds one, and for a moment the answer itself. */
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, moment } from './columns.ts'

export const sharedAnswers = pgTable(
  'shared_answers',
  {
    /** A digest of the question. */
    key: text('key').primaryKey(),
    /** Who finds the answer. */
    finder: uuid('finder').notNull(),
    /** Sealed; null until it is found. */
    answer: bytes('answer'),
    /** Until then the finder is waited for, and the answer is good. */
    until: moment('until').notNull(),
  },
  (table) => [index('shared_answers_until').on(table.until, table.key)],
)
