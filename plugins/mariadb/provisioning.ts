/** Creates, updates and drops accounts. */
import {
  allOrNothing,
  ConnectorError,
  flagOf,
  type Input,
  ifThere,
  nameOf,
  type Output,
  startsActive,
} from 'keyway/sdk'
import { readAccount, readOther, readWho, refuseServerAccount } from './accounts.ts'
import { readGrant } from './entitlements.ts'
import { addGrant } from './grants.ts'
import { type Ctx, idOf, type Who, whoOf } from './rows.ts'
import { endSessions } from './sessions.ts'

type Fields = { readonly password?: string; readonly host?: string }

/**
 * Creates an account with its roles and privileges. If one cannot be granted, the account is dropped again.
 * MariaDB has no transactions for accounts, so the account is locked until it is complete. An incomplete
 * account also requires a certificate that does not exist, which marks it. The next call replaces it.
 *
 * @throws `bad_request` with the code 1396 if the name is taken; `invalid_value` for a name that the server
 * would change; `service_error` if another call may still be creating the account; `unsupported_operation`
 * for a name of the server's own
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const { username: user, password, host = '%' } = request
  if (!user) throw new ConnectorError('integration_missing_parameter', 'username is required')
  if (!password) throw new ConnectorError('integration_missing_parameter', 'password is required')
  if (host.includes('@')) throw new ConnectorError('invalid_value', 'host holds no @')
  if (/ $/.test(user) || host !== host.trim())
    throw new ConnectorError('invalid_value', 'A name ends with no space: MariaDB would drop it')
  if (RESERVED_NAMES.includes(user.toLowerCase()))
    throw new ConnectorError('invalid_value', `MariaDB gives its own threads the name ${user}`)
  const enabled = startsActive(request.user_status)
  const who = { user, host }
  refuseServerAccount({ user, host: host.toLowerCase() })
  return allOrNothing(async (undo) => {
    try {
      await ctx.sql.execute('create', [], { ...who, password })
    } catch (error) {
      if (Object(error).app_error_code !== '1396' || !(await isUnfinished(ctx, who))) throw error
      await ctx.sql.execute('drop', [], who)
      await ctx.sql.execute('create', [], { ...who, password })
    }
    undo(`the user ${idOf(who)}`, () => ctx.sql.execute('drop', [], who))
    for (const one of request.entitlements) {
      const grant = await readGrant(ctx, {
        entitlement_type: one.entitlement_type,
        entitlement_integration_specific_id: one.integration_specific_id,
        resource_integration_specific_id: one.integration_specific_resource_id,
      })
      await addGrant(ctx, who, grant)
    }
    await ctx.sql.execute(enabled ? 'finish' : 'finish_locked', [], who)
    const made = await readWho(ctx, storedIdOf(who))
    return { status: enabled ? 'ACTIVE' : 'SUSPENDED', created: true, id: idOf(made) }
  })
}

/** Names that the server shows for its own threads and for connections that are not authenticated yet. */
const RESERVED_NAMES = ['system user', 'unauthenticated user', 'event_scheduler']

/** Returns the id as the server stores it, with the host in lower case. */
const storedIdOf = ({ user, host }: Who): string => idOf({ user, host: host.toLowerCase() })

/**
 * Reports whether a call that created an account was interrupted. No call lasts longer than a minute,
 * according to the manifest.
 *
 * @throws `service_error` if the account is younger than that
 */
async function isUnfinished(ctx: Ctx, who: Who): Promise<boolean> {
  const row = await ifThere(readAccount(ctx, storedIdOf(who)))
  // An account that was unlocked by someone else is in use.
  if (row === null || !flagOf(row, 'unfinished') || !flagOf(row, 'locked')) return false
  if (!flagOf(row, 'is_new')) return true
  throw new ConnectorError(
    'service_error',
    'Another call makes this account, or has left it half made less than a minute ago: try again in a minute',
    { app_error_code: 'half_made' },
  )
}

/**
 * Authentication plugins whose accounts take a password. For the others, a password would replace the way
 * they log in.
 */
const BY_PASSWORD = ['mysql_native_password', 'ed25519']

/**
 * Sets a password and keeps the account's authentication plugin.
 *
 * @throws `unsupported_operation` for an account that does not log in by a password alone, and for the
 * connector's own
 */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const { id, password } = request
  if (!password) throw new ConnectorError('bad_request', 'Nothing to change. Give: password')
  const row = await readOther(ctx, id)
  const who = whoOf(row)
  refuseServerAccount(who)
  const plugin = nameOf(row, 'plugin')
  if (flagOf(row, 'several')) throw otherLogin('in several ways')
  if (!BY_PASSWORD.includes(plugin)) throw otherLogin(`by ${plugin}`)
  await ctx.sql.execute('set_password', [], { ...who, plugin, password })
  return { id: idOf(who) }
}

const otherLogin = (how: string): ConnectorError =>
  new ConnectorError(
    'unsupported_operation',
    `The account logs in ${how}: a password would replace that. Change it on the server`,
    { app_error_code: 'other_login' },
  )

/**
 * Drops an account permanently, with its grants. The objects that it created remain and keep working without
 * it.
 *
 * @throws `unsupported_operation` for the connector's own account
 */
export async function deleteAccount(
  request: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const who = whoOf(await readOther(ctx, request.account_id))
  refuseServerAccount(who)
  await ctx.sql.execute('drop', [], who)
  await endSessions(ctx, who)
  return { status: 'DELETED', deleted: true }
}
