/** Creating, changing and dropping accounts. */
import { ConnectorError, type Input, nameOf, type Output, startsActive } from 'keyway/sdk'
import { endSessions, readAccount } from './accounts.ts'
import type { Ctx } from './rows.ts'

type Password = { readonly password?: string }

/**
 * Creates an account with its roles, in one transaction: all of it or nothing.
 *
 * @throws bad_request with the code 42710 when the name is taken
 */
export async function createAccount(
  request: Input<'create_account'> & Password,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { username: account, password, entitlements } = request
  if (!account) throw new ConnectorError('integration_missing_parameter', 'username is required')
  const enabled = startsActive(request.user_status)
  await ctx.sql.transaction([
    password
      ? { statement: 'create_with_password', names: { account, password } }
      : { statement: 'create', names: { account } },
    ...(enabled ? [] : [{ statement: 'disable' as const, names: { account } }]),
    ...entitlements.map(({ integration_specific_id: role }) => ({
      statement: 'grant' as const,
      names: { account, role },
    })),
  ])
  return { status: enabled ? 'ACTIVE' : 'SUSPENDED', created: true, id: account }
}

/** Sets a password. */
export async function updateAccount(
  request: Input<'update_account'> & Password,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const { id, password } = request
  if (!password) throw new ConnectorError('bad_request', 'Nothing to change. Give: password')
  const account = nameOf(await readAccount(ctx, id), 'rolname')
  await ctx.sql.execute('set_password', [], { account, password })
  return { id: account }
}

/**
 * Drops an account for good, and its memberships with it.
 *
 * @throws bad_request with the code 2BP01 where it owns something or has rights of its own
 */
export async function deleteAccount(
  request: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const row = await readAccount(ctx, request.account_id)
  const account = nameOf(row, 'rolname')
  try {
    await ctx.sql.execute('drop', [], { account })
  } catch (error) {
    const { app_error_code, message } = Object(error)
    if (app_error_code !== '2BP01') throw error
    throw new ConnectorError(
      'bad_request',
      `The account owns something, or has rights of its own. An administrator first gives it to another role in each database: REASSIGN OWNED BY the account TO that role, then DROP OWNED BY the account (${message})`,
      { app_error_code: '2BP01' },
    )
  }
  await endSessions(ctx, row)
  return { status: 'DELETED', deleted: true }
}
