import { ConnectorError, type Output } from 'keyway/sdk'
import { whoAmI } from './own.ts'
import type { Ctx } from './service.ts'

/**
 * Checks that the key's user is an administrator, who alone can list users. Redmine has no id, so the tenant
 * id is its address.
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
