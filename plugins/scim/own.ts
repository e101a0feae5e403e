import { ConnectorError, ifThere, path } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'
import type { User } from './users.ts'

/**
 * Services let an administrator switch off and delete itself: then its token is worth nothing any more. Whose it is, few
 * say (RFC 7644 section 3.11); the others refuse nothing, however they say that they have no `/Me`.
 *
 * @param what What becomes of the account, such as `is deleted`.
 * @throws unsupported_operation when the account is the one whose token is used.
 */
export async function mustNotBeOwn(ctx: Ctx, id: string, what: string): Promise<void> {
  const own = await readOwn(ctx)
  if (own?.id === undefined || !(await isSame(ctx, String(own.id), id))) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own token is in use here, and would not work once it ${what}. Use one of another administrator`,
    { app_error_code: 'own_account' },
  )
}

/** Some services find a user whatever the case of its id; to others these are two. */
async function isSame(ctx: Ctx, own: string, id: string): Promise<boolean> {
  if (own === id || own.toLowerCase() !== id.toLowerCase()) return own === id
  const user = await ifThere(service(ctx).get<Partial<User> | undefined>(path`/Users/${id}`))
  return String(user?.id) === own
}

async function readOwn(ctx: Ctx): Promise<Partial<User> | null | undefined> {
  try {
    return await service(ctx).get<Partial<User> | undefined>('/Me')
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    ctx.log.info('The service does not say whose token it is', { error_code: error.error_code })
    return null
  }
}
