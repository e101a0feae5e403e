/**
 * Statements that are sent so often that building them would cost more than sending them. Each is built once per host,
 * and parsed by PostgreSQL once per connection, under a name; it plans them as it does for any prepared statement.
 *
 * Only for statements that find few rows by a key whatever their values are: a plan that is kept must fit all of them.
 * A pooler in session mode keeps them for as long as a connection, like everything else of a session.
 */
import type { Pool, QueryConfig } from 'pg'
import type { Db } from './database.ts'
import { unconnected } from './table-rows.ts'

/** Values of the placeholders of a statement. */
type Values = Record<string, unknown>
/** What drizzle makes of a statement: its text, and how to read its rows. */
type Statement<R> = { execute(values: Values): Promise<R> }

/**
 * Makes a function that sends a statement on a database or in a transaction.
 *
 * @param name distinct in the whole host, at most 63 characters
 * @param build the statement, with `sql.placeholder(...)` where its values belong. Drizzle encodes no null that it finds
 *   in a placeholder beside a column: such a value is passed encoded, as `sql\`${sql.placeholder(...)}\``
 */
export function prepared<R>(
  name: string,
  build: (db: Db) => { prepare(name: string): Statement<R> },
): (db: Db, values: Values) => Promise<R> {
  let statement: Statement<R> | null = null
  return (db, values) => {
    statement ??= build(unconnected()).prepare(name)
    // Drizzle binds a statement to the connection that it was built with; this is the same one on another.
    const here: Statement<R> = Object.create(statement, { client: { value: connectionOf(db) } })
    return here.execute(values)
  }
}

/** Most texts that are named by `preparing`; others are sent without a name. */
const MOST_NAMED = 100
const names = new Map<string, string>()

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST_NAMED) return known
  const name = `asked ${names.size}`
  names.set(text, name)
  return name
}

/**
 * A database on which every statement is prepared: for a few that are sent again and again, and whose texts hold all that
 * the plan depends on. It begins no transactions.
 */
export function preparing(db: Db): Db {
  const connection = connectionOf(db)
  const query = ({ text, ...more }: QueryConfig, values?: unknown[]) => {
    const name = nameOf(text)
    return connection.query({ ...more, text, ...(name === undefined ? {} : { name }) }, values)
  }
  const own = unconnected()
  Object.assign(own._.session, { client: { query } })
  return own
}

/** The pool of a database, or the connection of a transaction: a member of drizzle's session that its types hide. */
export const connectionOf = (db: Db): Pick<Pool, 'query'> =>
  // The cast: that member.
  (db._.session as unknown as { client: Pool }).client
