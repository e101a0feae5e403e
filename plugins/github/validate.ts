import { ConnectorError, type Output } from 'keyway/sdk'
import { readMembership, type User } from './accounts.ts'
import { type Ctx, organization, service } from './service.ts'

/**
 * Checks that the token's owner is an owner of the organisation. GitHub silently hides parts of it, such as
 * secret teams, from everyone else. The tenant id is the host and the organisation's number, which survives a
 * renaming.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { login } = await service(ctx).get<User>('/user')
  const membership = await readMembership(ctx, login)
  if (membership?.state !== 'active' || membership.role !== 'admin') {
    const what = membership ? `${membership.state} ${membership.role}` : 'no member'
    throw new ConnectorError(
      'permission_denied',
      `${login} is ${what} of ${ctx.settings.organization}, and must be an owner of it`,
    )
  }
  const { id } = await service(ctx).get<{ id: number }>(organization(ctx))
  ctx.raw({ login, role: membership.role, organization_id: id })
  return { valid: true, unique_tenant_id: `${new URL(ctx.settings.base_url).host}/${id}` }
}
