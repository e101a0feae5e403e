import { ConnectorError, ifThere } from 'keyway/sdk'
import type { Ctx } from './service.ts'
import { readUser } from './users.ts'

/**
 * Refuses the administrator that the connector acts for. Google lets a service account suspend or delete that
 * administrator, and the connector could then no longer log in. Nothing is refused if the service account
 * acts for no user, or if the administrator is not found in this customer.
 *
 * @param what Effect on the user, such as `is deleted`
 * @throws `unsupported_operation` if the user is the administrator that the connector acts for
 */
export async function refuseOwnAccount(ctx: Ctx, id: string, what: string): Promise<void> {
  const { impersonation_email: email } = ctx.auth.service_account
  if (!email) return
  // Compare the id as well: the setting may hold an alias.
  const own = await ifThere(readUser(ctx, email), 'permission_denied', 'not_found')
  if (own === null || ![own.id, own.primaryEmail, email].some((one) => isSame(one, id))) return
  throw new ConnectorError(
    'unsupported_operation',
    `The connector acts for this administrator, and could not once it ${what}. Use another administrator`,
    { app_error_code: 'own_account' },
  )
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
