/** Enables and disables accounts by their connection limit, and ends their connections. */
import { ConnectorError, flagOf, hasCode, nameOf, numberOf, type SqlRow, textOf } from 'keyway/sdk'
import { ignoresConnectionLimit, readAccount, refuseOwnAccount } from './accounts.ts'
import type { Ctx } from './rows.ts'

/**
 * Suffix of the comment on a disabled role, with its previous connection limit. PostgreSQL stores only the
 * current limit.
 */
const STORED_LIMIT = /\n?\[Keyway: connection limit (\d+)\]$/

/** Maximum connection limit of PostgreSQL. */
const MAX_LIMIT = 2 ** 31 - 1

/** Maximum length of a comment that can be written, in characters (`names` of `ctx.sql`). */
const MAX_COMMENT = 1024

/**
 * Enables an account. Repeating it is not an error. The previous connection limit is restored, and an expiry
 * time in the past is removed.
 *
 * @throws `not_found` if the account is unknown
 */
export async function switchOn(ctx: Ctx, id: string): Promise<void> {
  const row = await readAccount(ctx, id)
  const account = nameOf(row, 'rolname')
  const isOff = flagOf(row, 'disabled')
  const comment = textOf(row, 'comment') ?? ''
  const steps = [
    ...(isOff
      ? [{ statement: 'enable' as const, names: { account, limit: storedLimit(comment) } }]
      : []),
    ...(isOff ? commentSteps(ctx, account, comment, comment.replace(STORED_LIMIT, '')) : []),
    ...(flagOf(row, 'expired') ? [{ statement: 'extend' as const, names: { account } }] : []),
  ]
  if (steps.length > 0) await ctx.sql.transaction(steps)
}

/**
 * Disables an account. Repeating it is not an error.
 *
 * @throws `not_found` if the account is unknown; `unsupported_operation` if connection limits do not apply to
 * it, and for the connector's own account
 */
export async function switchOff(ctx: Ctx, id: string): Promise<void> {
  const row = await readAccount(ctx, id)
  refuseOwnAccount(row)
  if (ignoresConnectionLimit(row))
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
    // If the account is already disabled, the comment holds the previous limit.
    ...(limit === 0 ? [] : commentSteps(ctx, account, comment, withLimit(comment, limit))),
  ])
  await endSessions(ctx, row)
}

/** Returns the limit that a comment holds, or -1 (no limit) if it holds no valid one. */
function storedLimit(comment: string): string {
  const [, limit = ''] = STORED_LIMIT.exec(comment) ?? []
  return Number(limit) > 0 && Number(limit) <= MAX_LIMIT ? String(Number(limit)) : '-1'
}

function withLimit(comment: string, limit: number): string {
  const rest = comment.replace(STORED_LIMIT, '')
  if (limit < 0) return rest
  return `${rest === '' ? '' : `${rest}\n`}[Keyway: connection limit ${limit}]`
}

/**
 * Returns the statement that writes the comment. Returns none if the comment is unchanged or too long:
 * disabling an account must not depend on it.
 */
function commentSteps(ctx: Ctx, account: string, before: string, comment: string) {
  if (comment === before) return []
  if (comment.length <= MAX_COMMENT)
    return [{ statement: 'comment' as const, names: { account, comment } }]
  ctx.log.warn('The comment on the role is too long to keep a connection limit in it', { account })
  return []
}

/**
 * Ends the connections of an account. If this is not allowed, they stay open until they end by themselves.
 */
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
