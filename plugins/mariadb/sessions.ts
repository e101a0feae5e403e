/** Ends the connections of accounts. */
import { flagOf, hasCode, numberOf, type SqlRow, unlessAlready } from 'keyway/sdk'
import { type Ctx, idOf, type Who } from './rows.ts'

/**
 * Ends the connections of an account. If this is not allowed, they stay open until they end by themselves.
 *
 * The server reports a connection's user name and origin, but not which account of that name it uses. All
 * connections that may use the account are ended, including those of a more specific account of the same
 * name. These may reconnect immediately.
 */
export async function endSessions(ctx: Ctx, who: Who): Promise<void> {
  try {
    const { rows: seen } = await ctx.sql.query('sees_sessions', [who.user])
    const [permissions] = seen
    if (permissions === undefined || !flagOf(permissions, 'sees'))
      return await endByName(ctx, who, permissions)
    const { rows } = await ctx.sql.query('sessions_of', [who.user, who.host])
    for (const row of rows)
      await unlessAlready(ctx.sql.execute('end_session', [numberOf(row, 'id')]), '1094')
  } catch (error) {
    if (!hasCode(error, 'permission_denied')) throw error
    ctx.log.warn('Connections of the account were not ended: grant CONNECTION ADMIN', {
      account: idOf(who),
    })
  }
}

/**
 * Ends connections by user and host. The server finds those of `%`, meaning all hosts, and of one address.
 * For the connector's own user name, this would also end the connector's connections.
 */
async function endByName(ctx: Ctx, who: Who, permissions: SqlRow | undefined): Promise<void> {
  ctx.log.warn('Connections of the account may be left: grant PROCESS', { account: idOf(who) })
  if (permissions !== undefined && flagOf(permissions, 'is_own_name')) return
  await ctx.sql.execute('end_sessions', [], who)
}
