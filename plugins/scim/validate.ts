import type { Json, Output } from 'keyway/sdk'
import { type Ctx, ifServed, readList, service } from './service.ts'

/**
 * Reads one user, which proves that the token may read, and the service's description of itself,
 * which often needs no token and so proves nothing. The tenant's id is where its service is.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  await readList(ctx, '/Users', { start: 1, count: 1 })
  ctx.raw(await ifServed(service(ctx).get<Json>('/ServiceProviderConfig')))
  const { host, pathname } = new URL(ctx.settings.base_url)
  return { valid: true, unique_tenant_id: host + pathname.replace(/\/+$/, '') }
}
