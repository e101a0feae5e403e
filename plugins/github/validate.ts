import { ConnectorError, type Output } from 'keyway/sdk'
import { readMembership, type User } from './accounts.ts'
import { type Ctx, organization, service } from './service.ts'

/**
 * Asks whose token it is and whether that person owns the organisation: everybody else sees only a part
 * of it, secret teams for one, without a word. The tenant's id is the organisation's number at its host,
 * which a new name does not change.
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
