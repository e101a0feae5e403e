import type { Json, Output } from 'keyway/sdk'
import { type Ctx, ifServed, listing, service } from './service.ts'

/**
 * Reads one user, which proves that the token may read. Also reads the service's configuration, which often
 * needs no token and proves nothing. The tenant id is the address of the service.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  await listing(ctx, '/Users', { size: 1 })({ cursor: null, size: 1 })
  ctx.raw(await ifServed(service(ctx).get<Json>('/ServiceProviderConfig')))
  const { host, pathname } = new URL(ctx.settings.base_url)
  return { valid: true, unique_tenant_id: host + pathname.replace(/\/+$/, '') }
}
