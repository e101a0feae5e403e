import { ConnectorError, hasCode, type Output } from 'keyway/sdk'
import type { User } from './accounts.ts'
import { ADMINISTRATOR } from './entitlements.ts'
import { whoAmI } from './own.ts'
import { type Ctx, service } from './service.ts'

/**
 * Checks that the user is an administrator, who alone can list users. The tenant id is the cluster's name,
 * which is the same at every node and address.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const user = await atManagementApi(ctx)
  if (!user.tags.includes(ADMINISTRATOR)) {
    throw new ConnectorError(
      'permission_denied',
      `The user ${JSON.stringify(user.name)} needs the tag administrator: rabbitmqctl set_user_tags`,
    )
  }
  const { name } = await service(ctx).get<{ name: string }>('/cluster-name')
  ctx.raw({ whoami: user, cluster_name: name })
  return { valid: true, unique_tenant_id: name }
}

async function atManagementApi(ctx: Ctx): Promise<User> {
  try {
    return await whoAmI(ctx)
  } catch (error) {
    // The web interface, one level above the API, answers 404 or 406.
    if (!hasCode(error, 'not_found', 'unsupported_operation')) throw error
    const message = `No management API at ${ctx.settings.base_url}: the address ends in /api`
    throw new ConnectorError('not_found', message, error)
  }
}
