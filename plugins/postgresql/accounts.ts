/** Reads roles that may log in. */
import {
  ConnectorError,
  flagOf,
  type Input,
  nameOf,
  type Output,
  type Paged,
  rowsPage,
  type SqlRow,
  textCursor,
  textOf,
} from 'keyway/sdk'
import { type Ctx, sizeOf } from './rows.ts'

type Account = Output<'get_account'>

/** Returns one page of accounts, ordered by name. */
export async function listAccounts(ctx: Ctx): Promise<Paged<Account[]>> {
  const size = sizeOf(ctx)
  const { rows } = await ctx.sql.query('accounts', [textCursor(ctx) ?? '', size])
  ctx.raw(rows)
  return rowsPage(rows, size, toAccount, (last) => nameOf(last, 'rolname'))
}

/** Returns one account by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const row = await readAccount(ctx, request.account_id)
  ctx.raw(row)
  return toAccount(row)
}

/**
 * Returns the row of an account.
 *
 * @throws `not_found` if the id is unknown or is that of a role that does not log in
 */
export async function readAccount(ctx: Ctx, id: string): Promise<SqlRow> {
  const { rows } = await ctx.sql.query('account', [id])
  const [row] = rows
  if (row !== undefined) return row
  throw new ConnectorError('not_found', 'There is no such role, or it may not log in', {
    app_error_code: '42704',
  })
}

/**
 * Refuses the account that the connector signs in as.
 *
 * @throws `unsupported_operation` for that account
 */
export function refuseOwnAccount(row: SqlRow): void {
  if (flagOf(row, 'own'))
    throw new ConnectorError(
      'unsupported_operation',
      'Keyway signs in with this role, and could do nothing more at this server: an administrator changes or takes it there, once the app has another one or gets the new password as well',
      { app_error_code: 'own_account' },
    )
}

/**
 * Reports whether a connection limit does not apply to a role: superusers and replication roles ignore it.
 */
export const ignoresConnectionLimit = (row: SqlRow): boolean =>
  flagOf(row, 'rolsuper') || flagOf(row, 'rolreplication')

function toAccount(row: SqlRow): Account {
  const name = nameOf(row, 'rolname')
  return {
    integration_specific_id: name,
    username: name,
    email: null,
    given_name: null,
    family_name: null,
    user_status:
      (flagOf(row, 'disabled') && !ignoresConnectionLimit(row)) || flagOf(row, 'expired')
        ? 'SUSPENDED'
        : 'ACTIVE',
    extra_data: { superuser: flagOf(row, 'rolsuper'), valid_until: textOf(row, 'rolvaliduntil') },
  }
}
