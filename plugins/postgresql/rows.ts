/** Types and functions that all modules of the connector share. */
import type { ConnectorContext } from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Returns the number of rows per page. */
export const sizeOf = (ctx: Ctx): number =>
  Math.min(ctx.page.size ?? ctx.settings.page_size, ctx.settings.page_size)
