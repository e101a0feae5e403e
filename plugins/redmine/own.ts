import { ConnectorError } from 'keyway/sdk'
import { type WholeUser, withoutKey } from './accounts.ts'
import { type Ctx, service } from './service.ts'

/** Whose key this is. */
export async function whoAmI(ctx: Ctx): Promise<WholeUser> {
  const { user } = await service(ctx).get<{ user: WholeUser }>('/users/current.json')
  return withoutKey(user)
}

/**
 * Redmine lets a user lock and delete itself: then the key is worth nothing any more.
 *
 * @throws unsupported_operation when the account is the one whose key is used.
 */
export async function mustNotBeOwn(ctx: Ctx, id: string, what: string): Promise<void> {
  const { id: own } = await whoAmI(ctx)
  if (String(own) !== id) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own API key is in use here, and would not work once it ${what}. Use a key of another administrator`,
    { app_error_code: 'own_account' },
  )
}
