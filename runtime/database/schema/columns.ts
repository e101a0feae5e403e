/** Columns that most tables have. */
import { sql } from 'drizzle-orm'
import { type AnyPgColumn, bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/** A random id, made by the database. */
export const id = () => uuid('id').primaryKey().defaultRandom()

/** The deployment that a row belongs to (the specification's "domain"). */
export const domainId = () => uuid('domain_id').notNull()

/** The id of a row that has to be there. */
export const refersTo = (name: string, id: () => AnyPgColumn) => uuid(name).notNull().references(id)

/** The id of the row that a row is a part of: it goes with that. */
export const partOf = (name: string, id: () => AnyPgColumn) =>
  uuid(name).notNull().references(id, { onDelete: 'cascade' })

/** A number that JavaScript holds exactly. */
export const number = (name: string) => bigint(name, { mode: 'number' })

export const createdAt = () =>
  timestamp('created_at', { withTimezone: true }).notNull().defaultNow()
export const updatedAt = () =>
  timestamp('updated_at', { withTimezone: true })
    .notNull()
    .defaultNow()
    // By the database's clock: that of a host may be wrong, and retention counts from here.
    .$onUpdate(() => sql`now()`)

export const timestamps = () => ({ createdAt: createdAt(), updatedAt: updatedAt() })

/** A point in time that may not have come. */
export const moment = (name: string) => timestamp(name, { withTimezone: true })

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
