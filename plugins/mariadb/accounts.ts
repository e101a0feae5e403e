/** Reads, locks and unlocks users. */
import {
  ConnectorError,
  flagOf,
  type Input,
  keysCursor,
  nameOf,
  type Output,
  type Paged,
  rowsPage,
  type SqlRow,
} from 'keyway/sdk'
import { type Ctx, idOf, parseId, sizeOf, type Who, whoOf } from './rows.ts'
import { endSessions } from './sessions.ts'

type Account = Output<'get_account'>

/** Returns one page of accounts, ordered by host and name, as the server stores them. */
export async function listAccounts(ctx: Ctx): Promise<Paged<Account[]>> {
  const size = sizeOf(ctx)
  const [host, user] = keysCursor(ctx, ['', ''])
  const { rows } = await ctx.sql.query('accounts', [host, user, size])
  ctx.raw(rows)
  return rowsPage(rows, size, toAccount, (last) => [nameOf(last, 'host'), nameOf(last, 'user')])
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
 * @throws `not_found` if the id is unknown or is that of a role
 */
export async function readAccount(ctx: Ctx, id: string): Promise<SqlRow> {
  const who = parseId(id)
  const { rows } =
    who === null ? { rows: [] } : await ctx.sql.query('account', [who.user, who.host])
  const [row] = rows
  if (row !== undefined) return row
  throw new ConnectorError('not_found', 'There is no such user: write user@host', {
    app_error_code: '1133',
  })
}

/**
 * Returns the user and host of an account.
 *
 * @throws `not_found` if the id is unknown or is that of a role
 */
export const readWho = async (ctx: Ctx, id: string): Promise<Who> =>
  whoOf(await readAccount(ctx, id))

/**
 * Returns the row of an account. Refuses the connector's own user, which would lock itself out.
 *
 * @throws `unsupported_operation` for the connector's own user; `not_found` as `readAccount`
 */
export async function readOther(ctx: Ctx, id: string): Promise<SqlRow> {
  const row = await readAccount(ctx, id)
  if (!flagOf(row, 'own')) return row
  throw new ConnectorError(
    'unsupported_operation',
    'Keyway signs in as this account, and would shut itself out: change it on the server, and connect the app as another user',
    { app_error_code: 'own_account' },
  )
}

/** Accounts that do not log in. Views and events of the server run with their privileges. */
const SERVER_ACCOUNTS = /^(?:mariadb\.sys|mysql\.(?:sys|session|infoschema))@localhost$/

/**
 * Refuses an account that the server needs unchanged.
 *
 * @throws `unsupported_operation` for such an account
 */
export function refuseServerAccount(who: Who): void {
  if (SERVER_ACCOUNTS.test(idOf(who)))
    throw new ConnectorError(
      'unsupported_operation',
      'The server itself needs this account as it is: its own views run by its rights. Nobody signs in as it',
      { app_error_code: 'server_account' },
    )
}

/**
 * Unlocks an account. Repeating it is not an error. Unlocking a half-made account also marks it as finished,
 * so no later call replaces it.
 */
export async function switchOn(ctx: Ctx, id: string): Promise<void> {
  const row = await readAccount(ctx, id)
  refuseServerAccount(whoOf(row))
  await ctx.sql.execute(flagOf(row, 'unfinished') ? 'finish' : 'unlock', [], whoOf(row))
}

/**
 * Locks an account. Repeating it is not an error.
 *
 * @throws `unsupported_operation` for the connector's own user
 */
export async function switchOff(ctx: Ctx, id: string): Promise<void> {
  const who = whoOf(await readOther(ctx, id))
  await ctx.sql.execute('lock', [], who)
  await endSessions(ctx, who)
}

function toAccount(row: SqlRow): Account {
  const who = whoOf(row)
  return {
    integration_specific_id: idOf(who),
    username: who.user,
    email: null,
    given_name: null,
    family_name: null,
    user_status: flagOf(row, 'locked') ? 'SUSPENDED' : 'ACTIVE',
    extra_data: { host: who.host, must_change_password: flagOf(row, 'must_change') },
  }
}
