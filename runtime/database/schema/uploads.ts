/** Uploads processed in the background: accounts, and times when accounts were used. */
import { sql } from 'drizzle-orm'
import { index, pgTable } from 'drizzle-orm/pg-core'
import { UPLOAD_KINDS } from '../../contract/models/upload.ts'
import { apps } from './apps.ts'
import { createdAt, domainId, id, moment, refersTo } from './columns.ts'
import { domains, users } from './people.ts'

export const uploads = pgTable(
  'uploads',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    kind: t.text('kind', { enum: UPLOAD_KINDS }).notNull(),
    /** App of uploaded accounts. */
    appId: t.uuid('app_id').references(() => apps.id, { onDelete: 'cascade' }),
    userId: refersTo('user_id', () => users.id),
    /** Uploaded data, until it is processed. */
    body: t.jsonb('body').$type<unknown[]>(),
    state: t
      .text('state', { enum: ['NOT_STARTED', 'RUNNING', 'SUCCESS', 'FAILURE'] })
      .notNull()
      .default('NOT_STARTED'),
    createdAt: createdAt(),
    finishedAt: moment('finished_at'),
  }),
  (table) => [
    index('uploads_open').on(table.createdAt).where(sql`${table.finishedAt} is null`),
    index('uploads_finished')
      .on(table.finishedAt, table.id)
      .where(sql`${table.finishedAt} is not null`),
  ],
)
