/** Types and functions that all modules of the connector share. */
import { type ConnectorContext, nameOf, type SqlRow } from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Returns the number of rows per page. */
export const sizeOf = (ctx: Ctx): number =>
  Math.min(ctx.page.size ?? ctx.settings.page_size, ctx.settings.page_size)

/** Account: a user name, and the host or host pattern that it logs in from. */
export type Who = { user: string; host: string }

export const whoOf = (row: SqlRow): Who => ({
  user: nameOf(row, 'user'),
  host: nameOf(row, 'host'),
})

/** Returns the id of an account, as the server writes it: `ada@%`. */
export const idOf = ({ user, host }: Who): string => `${user}@${host}`

/**
 * Returns the account with an id, or null if the text is not an id. A user name may contain `@`, but a host
 * does not.
 */
export function parseId(id: string): Who | null {
  const at = id.lastIndexOf('@')
  return at < 1 ? null : { user: id.slice(0, at), host: id.slice(at + 1) }
}
