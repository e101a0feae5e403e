/**
 * Statements that are sent so often that building them would cost more than sending them. Each is built once
 * per host, and parsed by PostgreSQL once per connection, under a name. PostgreSQL plans them like any
 * prepared statement.
 *
 * Only for statements that find few rows by a key, whatever their values: a cached plan must fit all of them.
 * A pooler in session mode keeps them for the life of a connection, like the rest of a session.
 */
import type { Pool, QueryConfig } from 'pg'
import type { Db } from './database.ts'
import { unconnected } from './table-rows.ts'

/** Values of the placeholders of a statement. */
type Values = Record<string, unknown>
/** Statement as built by drizzle: its text, and how to read its rows. */
type Statement<R> = { execute(values: Values): Promise<R> }

/**
 * Makes a function that sends a statement on a database or in a transaction.
 *
 * @param name unique in the whole host, at most 63 characters
 * @param build the statement, with `sql.placeholder(...)` in the place of its values. Drizzle does not encode
 * a null in a placeholder next to a column: pass such a value encoded, as `sql\`${sql.placeholder(...)}\``
 */
export function prepared<R>(
  name: string,
  build: (db: Db) => { prepare(name: string): Statement<R> },
): (db: Db, values: Values) => Promise<R> {
  let statement: Statement<R> | null = null
  return (db, values) => {
    statement ??= build(unconnected()).prepare(name)
    // Drizzle binds a statement to the connection on which it was built. This is the same statement on
    // another one.
    const here: Statement<R> = Object.create(statement, { client: { value: connectionOf(db) } })
    return here.execute(values)
  }
}

/** Maximum number of statements that `preparing` names. Others are sent without a name. */
const MAX_NAMED = 100
const names = new Map<string, string>()

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MAX_NAMED) return known
  const name = `asked ${names.size}`
  names.set(text, name)
  return name
}

/**
 * Makes a database on which every statement is prepared. For a few statements that are sent repeatedly and
 * whose texts hold everything that the plan depends on. It begins no transactions.
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

/**
 * Returns the pool of a database, or the connection of a transaction. Drizzle's types hide this member of its
 * session.
 */
export const connectionOf = (db: Db): Pick<Pool, 'query'> =>
  // The cast: the hidden member.
  (db._.session as unknown as { client: Pool }).client
