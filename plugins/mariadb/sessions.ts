/** What accounts are connected by, and its end. */
import { flagOf, hasCode, numberOf, type SqlRow, unlessAlready } from 'keyway/sdk'
import { type Ctx, idOf, type Who } from './rows.ts'

/**
 * Ends what an account is connected by. Where that is not allowed, its connections last until they end.
 *
 * The server tells of a connection its user name and where it comes from, and not which account of that name it took: all
 * that the account may have taken end, also those of a narrower account of the name. They may connect again at once.
 */
export async function endSessions(ctx: Ctx, who: Who): Promise<void> {
  try {
    const { rows: seen } = await ctx.sql.query('sees_sessions', [who.user])
    const [means] = seen
    if (means === undefined || !flagOf(means, 'sees')) return await endByName(ctx, who, means)
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

/** The server finds those of `%`, of all hosts, and of one address; of the connector's own name it would end its own as well. */
async function endByName(ctx: Ctx, who: Who, means: SqlRow | undefined): Promise<void> {
  ctx.log.warn('Connections of the account may be left: grant PROCESS', { account: idOf(who) })
  if (means !== undefined && flagOf(means, 'is_own_name')) return
  await ctx.sql.execute('end_sessions', [], who)
}
