/** What every part of the connector needs of rows. */
import { type ConnectorContext, type SqlRow, textOf } from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** The text of a column that is never null. */
export const nameOf = (row: SqlRow, column: string): string => textOf(row, column) ?? ''

/** How many rows a page has. */
export const sizeOf = (ctx: Ctx): number =>
  Math.min(ctx.page.size ?? ctx.settings.page_size, ctx.settings.page_size)

/** Where a page that is full goes on: behind its last row. */
export const nextOf = <T>(
  rows: readonly SqlRow[],
  size: number,
  cursorOf: (last: SqlRow) => T,
): T | null => {
  const last = rows.at(-1)
  return last !== undefined && rows.length === size ? cursorOf(last) : null
}
