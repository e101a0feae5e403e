/** Creates and drops users, and sets passwords. */
import { allOrNothing, ConnectorError, type Input, type Output, randomPassword } from 'keyway/sdk'
import { readUser, readUsers, refuseOwnAccount } from './accounts.ts'
import { grantOf, type Privilege } from './entitlements.ts'
import { grantPrivileges } from './grants.ts'
import { identifier, text } from './influxql.ts'
import { type Ctx, change, statementError } from './service.ts'

/**
 * Fields that connector.json adds to the request. Its patterns exclude characters that could end the string
 * in InfluxQL.
 */
type WithPassword = { password?: string }

/**
 * Creates a user with its grants. If one cannot be granted, the user is dropped again. InfluxDB reports
 * success for an existing user with the same password, so the name is checked first.
 *
 * @throws `api_error` with the code `user_exists` if the name is taken
 */
export async function createAccount(
  request: Input<'create_account'> & WithPassword,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const name = request.username ?? request.email
  if (!name)
    throw new ConnectorError('integration_missing_parameter', 'username or email is required')
  if (request.user_status && request.user_status.toUpperCase() !== 'ACTIVE')
    throw new ConnectorError('bad_request', 'InfluxDB has no users that are not active')

  const { admin, privileges } = sorted(request.entitlements)
  const user = identifier(name)
  if ((await readUsers(ctx)).some((one) => one.name === name))
    throw statementError('user already exists')
  return allOrNothing(async (undo) => {
    const password = text(request.password ?? randomPassword())
    const rights = admin ? ' WITH ALL PRIVILEGES' : ''
    await change(ctx, `CREATE USER ${user} WITH PASSWORD ${password}${rights}`)
    undo(`the user ${name}`, () => change(ctx, `DROP USER ${user}`))
    for (const [database, names] of privileges) await grantPrivileges(ctx, name, database, names)
    return { status: 'ACTIVE', created: true, id: name }
  })
}

/** Splits entitlements into administration and the privileges by database. */
function sorted(entitlements: Input<'create_account'>['entitlements']) {
  let admin = false
  const privileges = new Map<string, Privilege[]>()
  for (const one of entitlements) {
    const resource = one.integration_specific_resource_id ?? ''
    const grant = grantOf(one.entitlement_type, one.integration_specific_id, resource)
    if (grant.type === 'ADMINISTRATOR') admin = true
    else
      privileges.set(grant.database, [...(privileges.get(grant.database) ?? []), grant.privilege])
  }
  return { admin, privileges }
}

/** Sets a new password. The old one stops working. */
export async function updateAccount(
  request: Input<'update_account'> & WithPassword,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const { id, password } = request
  if (!password) throw new ConnectorError('bad_request', 'Nothing to change. Give: password')
  refuseOwnAccount(ctx, id, 'has another password')
  await change(ctx, `SET PASSWORD FOR ${identifier(id)} = ${text(password)}`)
  return { id }
}

/** Drops a user and all its grants. */
export async function deleteAccount(
  { account_id: name }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  refuseOwnAccount(ctx, name, 'is gone')
  await readUser(ctx, name)
  await change(ctx, `DROP USER ${identifier(name)}`)
  return { status: 'DELETED', deleted: true }
}
