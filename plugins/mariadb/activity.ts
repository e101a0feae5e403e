/** Reads the last activity of connected accounts. MariaDB records no other times. */
import { type Input, nameOf, type Output } from 'keyway/sdk'
import { type Ctx, idOf, whoOf } from './rows.ts'

/** Returns the last activity of each account that is connected now. The others are left out. */
export async function getLastActivity(
  request: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Output<'get_last_activity'>> {
  const { rows } = await ctx.sql.query('sessions', [request.account_ids])
  return rows.map((row) => ({
    account_id: idOf(whoOf(row)),
    event_type: 'last_activity',
    happened_at: `${nameOf(row, 'at')}Z`,
  }))
}
