import { ConnectorError, type Output } from 'keyway/sdk'
import { whoAmI } from './guards.ts'
import { ask, type Ctx } from './service.ts'

/** Without the first, names and roles stay hidden; without the second, whole users do. */
const NEEDED = ['list_users', 'edit_users']

/**
 * Asks whose application password it is, and whether that user may read all users with their roles. The
 * tenant's id is the address that the site gives itself, by whatever name it is reached.
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

/** @throws invalid_response when the site does not say where its home page is. */
function tenantOf(home: unknown): string {
  if (typeof home === 'string' && URL.canParse(home)) {
    const { host, pathname } = new URL(home)
    return host + pathname.replace(/\/+$/, '')
  }
  throw new ConnectorError('invalid_response', 'WordPress did not say where its home page is')
}
