/** Switching accounts on and off by their connection limit, and ending what they are connected by. */
import { ConnectorError, flagOf, hasCode, nameOf, numberOf, type SqlRow, textOf } from 'keyway/sdk'
import { demandAnother, isAboveLimits, readAccount } from './accounts.ts'
import type { Ctx } from './rows.ts'

/** Stands at the end of the comment on a role that is switched off: PostgreSQL keeps no limit but the one in force. */
const KEPT = /\n?\[Keyway: connection limit (\d+)\]$/

/**
 * Switches an account on: doing it twice is no error. It gets the limit back that it had, and a time that is over has no
 * end from then on.
 *
 * @throws not_found
 */
export async function switchOn(ctx: Ctx, id: string): Promise<void> {
  const row = await readAccount(ctx, id)
  const account = nameOf(row, 'rolname')
  const isOff = flagOf(row, 'disabled')
  const comment = textOf(row, 'comment') ?? ''
  const [, limit = null] = KEPT.exec(comment) ?? []
  const steps = [
    ...(isOff ? [{ statement: 'enable' as const, names: { account, limit: limit ?? '-1' } }] : []),
    ...(isOff && limit !== null ? [commentStep(account, comment.replace(KEPT, ''))] : []),
    ...(flagOf(row, 'expired') ? [{ statement: 'extend' as const, names: { account } }] : []),
  ]
  if (steps.length > 0) await ctx.sql.transaction(steps)
}

/**
 * Switches an account off: doing it twice is no error.
 *
 * @throws not_found; unsupported_operation for one that no connection limit holds, and for the connector's own
 */
export async function switchOff(ctx: Ctx, id: string): Promise<void> {
  const row = await readAccount(ctx, id)
  demandAnother(row)
  if (isAboveLimits(row))
    throw new ConnectorError(
      'unsupported_operation',
      'A superuser, or a role with REPLICATION, connects in spite of a connection limit: an administrator takes that from it first (ALTER ROLE ... NOSUPERUSER NOREPLICATION)',
      { app_error_code: 'above_limits' },
    )
  const account = nameOf(row, 'rolname')
  const limit = numberOf(row, 'rolconnlimit') ?? -1
  const rest = (textOf(row, 'comment') ?? '').replace(KEPT, '')
  const kept = `${rest === '' ? '' : `${rest}\n`}[Keyway: connection limit ${limit}]`
  await ctx.sql.transaction([
    { statement: 'disable', names: { account } },
    ...(limit > 0 ? [commentStep(account, kept)] : []),
  ])
  await endSessions(ctx, row)
}

const commentStep = (account: string, comment: string) => ({
  statement: 'comment' as const,
  names: { account, comment },
})

/** Ends what an account is connected by. Where that is not allowed, its connections last until they end. */
export async function endSessions(ctx: Ctx, row: SqlRow): Promise<void> {
  try {
    await ctx.sql.execute('end_sessions', [numberOf(row, 'oid')])
  } catch (error) {
    if (!hasCode(error, 'permission_denied')) throw error
    ctx.log.warn('Connections of the account were not ended: grant pg_signal_backend', {
      account: nameOf(row, 'rolname'),
    })
  }
}
