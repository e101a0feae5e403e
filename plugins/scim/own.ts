import { ConnectorError, ifThere, path } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'
import type { User } from './users.ts'

/**
 * Refuses the account whose token the connector uses. Services let an administrator deactivate or delete
 * itself, and the token would then stop working. Few services report the token's owner (RFC 7644 section
 * 3.11). For the others nothing is refused, whatever error they return for `/Me` except 429.
 *
 * @param what Effect on the account, such as `is deleted`
 * @throws `unsupported_operation` if the account is the one whose token is used
 */
export async function refuseOwnAccount(ctx: Ctx, id: string, what: string): Promise<void> {
  const own = await readOwn(ctx)
  if (own?.id === undefined || !(await isSame(ctx, String(own.id), id))) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own token is in use here, and would not work once it ${what}. Use one of another administrator`,
    { app_error_code: 'own_account' },
  )
}

/**
 * Reports whether two ids denote the same user. Some services ignore the case of an id; for others, these are
 * two users.
 */
async function isSame(ctx: Ctx, own: string, id: string): Promise<boolean> {
  if (own === id || own.toLowerCase() !== id.toLowerCase()) return own === id
  const user = await ifThere(service(ctx).get<Partial<User> | undefined>(path`/Users/${id}`))
  return String(user?.id) === own
}

async function readOwn(ctx: Ctx): Promise<Partial<User> | null | undefined> {
  try {
    return await service(ctx).get<Partial<User> | undefined>('/Me')
  } catch (error) {
    // A service that asks for a pause may still report the owner later.
    if (!(error instanceof ConnectorError) || error.error_code === 'rate_limit') throw error
    ctx.log.info('The service does not say whose token it is', { error_code: error.error_code })
    return null
  }
}
