import { ConnectorError, ifThere } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'
import type { User } from './users.ts'

/**
 * Okta lets an administrator suspend and delete itself: then its token is worth nothing any more. A token that is
 * nobody's, such as that of a service application, is not told who it is.
 *
 * @param what What becomes of the person, such as `is deleted`.
 * @throws unsupported_operation when the account is the one whose token is used.
 */
export async function mustNotBeOwn(ctx: Ctx, id: string, what: string): Promise<void> {
  const own = await ifThere(service(ctx).get<User>('/users/me'), 'permission_denied', 'not_found')
  if (own?.id !== id) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own token is in use here, and would not work once it ${what}. Use one of another administrator`,
    { app_error_code: 'own_account' },
  )
}
