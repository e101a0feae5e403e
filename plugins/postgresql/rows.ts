/** What every part of the connector needs. */
import type { ConnectorContext } from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** How many rows a page has. */
export const sizeOf = (ctx: Ctx): number =>
  Math.min(ctx.page.size ?? ctx.settings.page_size, ctx.settings.page_size)
