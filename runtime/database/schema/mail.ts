/** Mail that is to be sent, how far the log was read for it, and what people chose. */
import { sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { MAIL_OUTCOMES, type MailKind } from '../../contract/models/mail.ts'
import { type MailChoice, PERSONAL_LANGUAGES } from '../../contract/models/personal-settings.ts'
import { createdAt, domainId, id, moment, partOf, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'

/** One row for each person and event. It names what it is about; what it says is read when it is sent. */
export const mails = pgTable(
  'mails',
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    kind: text('kind').$type<MailKind>().notNull(),
    /** Id of the task, the request or the connector. */
    about: text('about').notNull(),
    /** What makes it one: the same event is told a person once. */
    key: text('key').notNull(),
    /** Of the message that carries it; chosen before it is first sent, so that a second try is known as the same. */
    messageId: uuid('message_id'),
    /** Not before. */
    dueAt: moment('due_at').notNull(),
    /** Tries that were put off. */
    attempts: integer('attempts').notNull().default(0),
    /** What the server said last. */
    problem: text('problem'),
    /** Null while it waits. */
    outcome: text('outcome', { enum: MAIL_OUTCOMES }),
    endedAt: moment('ended_at'),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('mails_key').on(table.userId, table.key),
    index('mails_due').on(table.dueAt, table.userId).where(sql`ended_at is null`),
    index('mails_done').on(table.endedAt, table.id),
  ],
)

/** How far the activity log was read for mail. */
export const mailFeeds = pgTable('mail_feeds', {
  domainId: uuid('domain_id')
    .primaryKey()
    .references(() => domains.id),
  /** Of the last row of the log that was read. */
  readId: bigint('read_id', { mode: 'bigint' }).notNull(),
  /** When it was last looked for access that ends soon. */
  sweptAt: moment('swept_at'),
})

/** One row for each person who chose something. */
export const personalSettings = pgTable('personal_settings', {
  userId: partOf('user_id', () => users.id).primaryKey(),
  domainId: domainId().references(() => domains.id),
  mail: text('mail').$type<MailChoice>().notNull().default('AT_ONCE'),
  language: text('language', { enum: PERSONAL_LANGUAGES }),
  updatedAt: updatedAt(),
})
