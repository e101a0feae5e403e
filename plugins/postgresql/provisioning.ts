/** Creates, updates and drops accounts. */
import { ConnectorError, type Input, nameOf, type Output, startsActive } from 'keyway/sdk'
import { readAccount, refuseOwnAccount } from './accounts.ts'
import { requireGrantable } from './roles.ts'
import type { Ctx } from './rows.ts'
import { endSessions } from './switching.ts'

type Password = { readonly password?: string }

/**
 * Creates an account with its roles in one transaction.
 *
 * @throws `bad_request` with the code 42710 if the name is taken
 */
export async function createAccount(
  request: Input<'create_account'> & Password,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { username: account, password, entitlements } = request
  if (!account) throw new ConnectorError('integration_missing_parameter', 'username is required')
  const enabled = startsActive(request.user_status)
  await requireRoles(ctx, entitlements)
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

/**
 * Maximum number of roles of a new account. A transaction has a limited number of statements, and creating
 * the account takes two of them.
 */
const MAX_ROLES = 48

/**
 * Checks the roles of a new account. A role that logs in could be granted too, but would not be listed
 * anywhere.
 *
 * @throws `not_found` if one does not exist or logs in; `bad_request` if there are more than one transaction
 * can grant
 */
async function requireRoles(
  ctx: Ctx,
  entitlements: Input<'create_account'>['entitlements'],
): Promise<void> {
  if (entitlements.length === 0) return
  if (entitlements.length > MAX_ROLES)
    throw new ConnectorError(
      'bad_request',
      `An account gets at most ${MAX_ROLES} roles when it is made; assign the others afterwards`,
    )
  const wanted = entitlements.map((one) => one.integration_specific_id)
  for (const role of wanted) requireGrantable(role)
  const { rows } = await ctx.sql.query('roles_named', [wanted])
  const found = new Set(rows.map((row) => nameOf(row, 'rolname')))
  if (wanted.some((role) => !found.has(role)) || entitlements.some(isOfResource))
    throw new ConnectorError('not_found', 'There is no such role, or it logs in', {
      app_error_code: '42704',
    })
}

const isOfResource = (one: Input<'create_account'>['entitlements'][number]): boolean =>
  one.integration_specific_resource_id !== ''

/**
 * Sets a password.
 *
 * @throws `unsupported_operation` for the connector's own account
 */
export async function updateAccount(
  request: Input<'update_account'> & Password,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const { id, password } = request
  if (!password) throw new ConnectorError('bad_request', 'Nothing to change. Give: password')
  const row = await readAccount(ctx, id)
  const account = nameOf(row, 'rolname')
  refuseOwnAccount(row)
  await ctx.sql.execute('set_password', [], { account, password })
  return { id: account }
}

/**
 * Drops an account permanently, with its memberships.
 *
 * @throws `bad_request` with the code 2BP01 if the account owns objects or has privileges of its own;
 * `unsupported_operation` for the connector's own account
 */
export async function deleteAccount(
  request: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const row = await readAccount(ctx, request.account_id)
  const account = nameOf(row, 'rolname')
  refuseOwnAccount(row)
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
