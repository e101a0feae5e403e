import { ConnectorError, type Output } from 'keyway/sdk'
import { whoAmI } from './own.ts'
import type { Ctx } from './service.ts'

/**
 * Asks whose key it is, and whether that user may administer: without that, it can list nobody. Redmine
 * has no id of its own: the tenant's id is its address.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { admin, login } = await whoAmI(ctx)
  if (admin !== true)
    throw new ConnectorError(
      'permission_denied',
      `The user ${JSON.stringify(login)} is no administrator of this Redmine`,
    )
  const { host, pathname } = new URL(ctx.settings.base_url)
  return { valid: true, unique_tenant_id: host + pathname.replace(/\/+$/, '') }
}
