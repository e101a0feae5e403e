/** What accounts are connected by, and its end. */
import { hasCode, numberOf, unlessAlready } from 'keyway/sdk'
import { type Ctx, idOf, type Who } from './rows.ts'

/**
 * Ends what an account is connected by. Where that is not allowed, its connections last until they end.
 *
 * The server tells of a connection its user name and where it comes from, and not which account of that name it took. A
 * connection is left alone where a narrower account certainly took it: one that meets it, and was there before it.
 */
export async function endSessions(ctx: Ctx, who: Who): Promise<void> {
  try {
    const { rows: seen } = await ctx.sql.query('sees_sessions')
    if (seen.length === 0) return await endByName(ctx, who)
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

/** The server finds those of `%`, of all hosts, and of one address. */
async function endByName(ctx: Ctx, who: Who): Promise<void> {
  ctx.log.warn('Connections of the account may be left: grant PROCESS', { account: idOf(who) })
  await ctx.sql.execute('end_sessions', [], who)
}
