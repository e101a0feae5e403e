import { ConnectorError, ifThere } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'
import type { User } from './users.ts'

/**
 * Refuses the account whose token the connector uses. Okta lets an administrator suspend or delete itself,
 * and the token would then stop working. For a token without a user, such as that of a service application,
 * Okta returns no user, and nothing is refused.
 *
 * @param what Effect on the person, such as `is deleted`
 * @throws `unsupported_operation` if the account is the one whose token is used
 */
export async function refuseOwnAccount(ctx: Ctx, id: string, what: string): Promise<void> {
  const own = await ifThere(service(ctx).get<User>('/users/me'), 'permission_denied', 'not_found')
  if (own?.id !== id) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own token is in use here, and would not work once it ${what}. Use one of another administrator`,
    { app_error_code: 'own_account' },
  )
}
