import { ConnectorError, ifThere } from 'keyway/sdk'
import { sameLogin, type User } from './accounts.ts'
import { type Ctx, service } from './service.ts'

/**
 * GitHub lets an owner leave and demote itself: then the token opens nothing here any more. The token of an app is
 * nobody's: GitHub says 403 to it.
 *
 * @param what What becomes of the person, such as `is removed`.
 * @throws unsupported_operation when the account is the one whose token is used.
 */
export async function mustNotBeOwn(ctx: Ctx, login: string, what: string): Promise<void> {
  const own = await ifThere(service(ctx).get<User>('/user'), 'permission_denied', 'not_found')
  if (own === null || !sameLogin(own.login, login)) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own token is in use here, and would not work once it ${what}. Use one of another owner`,
    { app_error_code: 'own_account' },
  )
}
