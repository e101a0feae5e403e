/** Switching accounts on and off by their connection limit, and ending what they are connected by. */
import { ConnectorError, flagOf, hasCode, nameOf, numberOf, type SqlRow, textOf } from 'keyway/sdk'
import { demandAnother, isAboveLimits, readAccount } from './accounts.ts'
import type { Ctx } from './rows.ts'

/** Stands at the end of the comment on a role that is switched off: PostgreSQL keeps no limit but the one in force. */
const KEPT = /\n?\[Keyway: connection limit (\d+)\]$/

/** Largest connection limit of PostgreSQL. */
const MAX_LIMIT = 2 ** 31 - 1

/** Most characters of a comment that can be written (`names` of `ctx.sql`). */
const MAX_COMMENT = 1024

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
  const steps = [
    ...(isOff
      ? [{ statement: 'enable' as const, names: { account, limit: keptLimit(comment) } }]
      : []),
    ...(isOff ? commentSteps(ctx, account, comment, comment.replace(KEPT, '')) : []),
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
  const comment = textOf(row, 'comment') ?? ''
  await ctx.sql.transaction([
    { statement: 'disable', names: { account } },
    // Of one that is off already, the limit before is in the comment.
    ...(limit === 0 ? [] : commentSteps(ctx, account, comment, withLimit(comment, limit))),
  ])
  await endSessions(ctx, row)
}

/** The limit that a comment keeps; none where somebody wrote there what is no limit. */
function keptLimit(comment: string): string {
  const [, limit = ''] = KEPT.exec(comment) ?? []
  return Number(limit) > 0 && Number(limit) <= MAX_LIMIT ? String(Number(limit)) : '-1'
}

function withLimit(comment: string, limit: number): string {
  const rest = comment.replace(KEPT, '')
  if (limit < 0) return rest
  return `${rest === '' ? '' : `${rest}\n`}[Keyway: connection limit ${limit}]`
}

/** Nothing where the comment stays, or is too long to be written: switching an account off never depends on it. */
function commentSteps(ctx: Ctx, account: string, before: string, comment: string) {
  if (comment === before) return []
  if (comment.length <= MAX_COMMENT)
    return [{ statement: 'comment' as const, names: { account, comment } }]
  ctx.log.warn('The comment on the role is too long to keep a connection limit in it', { account })
  return []
}

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
