import { ConnectorError } from 'keyway/sdk'
import type { User } from './accounts.ts'
import { type Ctx, service } from './service.ts'

/** Returns the user that the connector signs in as. */
export const whoAmI = (ctx: Ctx): Promise<User> => service(ctx).get<User>('/whoami')

/**
 * Refuses the connector's own user. RabbitMQ lets an administrator delete or demote itself, which would lock
 * the connector out.
 *
 * @param what Effect on the user, such as `is gone`
 * @throws `unsupported_operation` if the user is the one that the connector logs in as
 */
export async function refuseOwnAccount(ctx: Ctx, name: string, what: string): Promise<void> {
  const own = await whoAmI(ctx)
  if (own.name !== name) return
  throw new ConnectorError(
    'unsupported_operation',
    `The connector logs in as this user, and could not once it ${what}. Use another administrator`,
    { app_error_code: 'own_account' },
  )
}
