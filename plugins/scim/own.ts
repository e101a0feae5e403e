import { ConnectorError, ifThere } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'
import type { User } from './users.ts'

/** How services say that they have no `/Me`, or that the token is nobody's; some take it for a mistake, or for a page. */
const UNKNOWN = [
  'not_found',
  'unsupported_operation',
  'permission_denied',
  'bad_request',
  'invalid_response',
] as const

/**
 * Services let an administrator switch off and delete itself: then its token is worth nothing any more. Whose it is, few
 * say (RFC 7644 section 3.11); the others refuse nothing.
 *
 * @param what What becomes of the account, such as `is deleted`.
 * @throws unsupported_operation when the account is the one whose token is used.
 */
export async function mustNotBeOwn(ctx: Ctx, id: string, what: string): Promise<void> {
  const own = await ifThere(service(ctx).get<Partial<User> | undefined>('/Me'), ...UNKNOWN)
  if (own?.id === undefined || String(own.id) !== id) return
  throw new ConnectorError(
    'unsupported_operation',
    `The account's own token is in use here, and would not work once it ${what}. Use one of another administrator`,
    { app_error_code: 'own_account' },
  )
}
