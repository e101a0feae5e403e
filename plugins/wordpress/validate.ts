import { ConnectorError, type Output } from 'keyway/sdk'
import { whoAmI } from './guards.ts'
import { ask, type Ctx } from './service.ts'

/**
 * Required capabilities. Without the first, names and roles are hidden. Without the second, whole users are.
 */
const NEEDED = ['list_users', 'edit_users']

/**
 * Checks that the user of the application password may read all users with their roles. The tenant id is the
 * address that the site reports for itself, regardless of the one used to reach it.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { username, capabilities = {} } = await whoAmI(ctx)
  const missing = NEEDED.filter((name) => capabilities[name] !== true)
  if (missing.length > 0)
    throw new ConnectorError(
      'permission_denied',
      `The user ${JSON.stringify(username)} is no administrator of this WordPress: ${missing.join(' and ')} missing`,
    )
  const { home } = await ask<{ home?: unknown }>(ctx, 'GET', '/', { query: { _fields: 'home' } })
  return { valid: true, unique_tenant_id: tenantOf(home) }
}

/**
 * Returns the tenant id for the address of the home page.
 *
 * @throws `invalid_response` if the site does not report it
 */
function tenantOf(home: unknown): string {
  if (typeof home === 'string' && URL.canParse(home)) {
    const { host, pathname } = new URL(home)
    return host + pathname.replace(/\/+$/, '')
  }
  throw new ConnectorError('invalid_response', 'WordPress did not say where its home page is')
}
