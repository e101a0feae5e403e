/** Reads since when accounts are connected. PostgreSQL records no other times. */
import { type Input, nameOf, type Output, textOf } from 'keyway/sdk'
import type { Ctx } from './rows.ts'

/** Returns the last login of each account that is connected now. The others are left out. */
export async function getLastActivity(
  request: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Output<'get_last_activity'>> {
  const { rows } = await ctx.sql.query('sessions', [request.account_ids])
  return rows.flatMap((row) => {
    const happened_at = textOf(row, 'since')
    if (happened_at === null) return []
    return [{ account_id: nameOf(row, 'account'), event_type: 'last_login', happened_at }]
  })
}
