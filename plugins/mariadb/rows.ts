/** What every part of the connector needs. */
import { type ConnectorContext, nameOf, type SqlRow } from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** How many rows a page has. */
export const sizeOf = (ctx: Ctx): number =>
  Math.min(ctx.page.size ?? ctx.settings.page_size, ctx.settings.page_size)

/** An account: a user name, and the host or the pattern of hosts that it logs in from. */
export type Who = { user: string; host: string }

export const whoOf = (row: SqlRow): Who => ({
  user: nameOf(row, 'user'),
  host: nameOf(row, 'host'),
})

/** `ada@%`, as the server itself writes it. */
export const idOf = ({ user, host }: Who): string => `${user}@${host}`

/** The account of an id. A host has no `@`; a user name may. */
export function whoIs(id: string): Who | null {
  const at = id.lastIndexOf('@')
  return at < 1 ? null : { user: id.slice(0, at), host: id.slice(at + 1) }
}
