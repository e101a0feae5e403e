/** Mail to be sent, the position of mail in the log, and personal choices. */
import { sql } from 'drizzle-orm'
import { index, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { MAIL_OUTCOMES, type MailKind } from '../../contract/models/mail.ts'
import { type MailChoice, PERSONAL_LANGUAGES } from '../../contract/models/personal-settings.ts'
import { createdAt, domainId, id, moment, partOf, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'

/** One row for each person and event. It names its subject. The text is made when it is sent. */
export const mails = pgTable(
  'mails',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: partOf('user_id', () => users.id),
    kind: t.text('kind').$type<MailKind>().notNull(),
    /** Id of the task, the request or the connector. */
    about: t.text('about').notNull(),
    /** Key of the event: a person is notified of an event once. */
    key: t.text('key').notNull(),
    /**
     * Id of the message, chosen before it is first sent, so that a retry is recognised as the same message.
     */
    messageId: t.uuid('message_id'),
    /** Earliest time to send it. */
    dueAt: moment('due_at').notNull(),
    /** Attempts that were deferred. */
    attempts: t.integer('attempts').notNull().default(0),
    /** Last response of the server. */
    problem: t.text('problem'),
    /** Null while it waits. */
    outcome: t.text('outcome', { enum: MAIL_OUTCOMES }),
    endedAt: moment('ended_at'),
    createdAt: createdAt(),
  }),
  (table) => [
    uniqueIndex('mails_key').on(table.userId, table.key),
    index('mails_due').on(table.dueAt, table.userId).where(sql`ended_at is null`),
    index('mails_done').on(table.endedAt, table.id),
  ],
)

/** Position up to which the activity log was read for mail. */
export const mailFeeds = pgTable('mail_feeds', (t) => ({
  domainId: t
    .uuid('domain_id')
    .primaryKey()
    .references(() => domains.id),
  /** Id of the last row read from the log. */
  readId: t.bigint('read_id', { mode: 'bigint' }).notNull(),
  /** Time of the last search for access that ends soon. */
  sweptAt: moment('swept_at'),
}))

/** Choices of a person. Only people who chose something have a row. */
export const personalSettings = pgTable('personal_settings', (t) => ({
  userId: partOf('user_id', () => users.id).primaryKey(),
  domainId: domainId().references(() => domains.id),
  mail: t.text('mail').$type<MailChoice>().notNull().default('AT_ONCE'),
  language: t.text('language', { enum: PERSONAL_LANGUAGES }),
  updatedAt: updatedAt(),
}))
