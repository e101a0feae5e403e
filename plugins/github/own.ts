import { ConnectorError, ifThere } from 'keyway/sdk'
import { sameLogin, type User } from './accounts.ts'
import { type Ctx, service } from './service.ts'

/**
 * Refuses the account whose token the connector uses. GitHub lets an owner leave or demote itself, and the
 * token would then lose its access to the organisation. A token of an app belongs to no user: GitHub answers
 * 403.
 *
 * @param what Effect on the person, such as `is removed`
 * @throws `unsupported_operation` if the account is the one whose token is used
 */
export async function refuseOwnAccount(ctx: Ctx, login: string, what: string): Promise<void> {
  const own = await ifThere(service(ctx).get<User>('/user'), 'permission_denied', 'not_found')
  if (own === null || !sameLogin(own.login, login)) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own token is in use here, and would not work once it ${what}. Use one of another owner`,
    { app_error_code: 'own_account' },
  )
}
