/** Columns that most tables have. */
import { customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/** A random id, made by the database. */
export const id = () => uuid('id').primaryKey().defaultRandom()

/** The deployment that a row belongs to (the specification's "domain"). */
export const domainId = () => uuid('domain_id').notNull()

export const createdAt = () =>
  timestamp('created_at', { withTimezone: true }).notNull().defaultNow()
export const updatedAt = () =>
  timestamp('updated_at', { withTimezone: true })
    .notNull()
    .defaultNow()
    .$onUpdate(() => new Date())

/** A point in time that may not have come. */
export const moment = (name: string) => timestamp(name, { withTimezone: true })

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
