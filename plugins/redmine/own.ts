import { ConnectorError } from 'keyway/sdk'
import { type WholeUser, withoutKey } from './accounts.ts'
import { type Ctx, service } from './service.ts'

/** Returns the user that the API key belongs to. */
export async function whoAmI(ctx: Ctx): Promise<WholeUser> {
  const { user } = await service(ctx).get<{ user: WholeUser }>('/users/current.json')
  return withoutKey(user)
}

/**
 * Refuses the connector's own user. Redmine lets a user lock or delete itself, and the API key would then
 * stop working.
 *
 * @throws `unsupported_operation` if the account is the one whose key is used
 */
export async function refuseOwnAccount(ctx: Ctx, id: string, what: string): Promise<void> {
  const { id: own } = await whoAmI(ctx)
  if (String(own) !== id) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own API key is in use here, and would not work once it ${what}. Use a key of another administrator`,
    { app_error_code: 'own_account' },
  )
}
