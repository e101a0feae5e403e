import type { Output } from 'keyway/sdk'
import { type Ctx, listing } from './service.ts'
import type { User } from './users.ts'

/** Reads one user, which proves that users may be read. The tenant id is the organisation's host. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  await listing<User>(ctx, '/users')({ cursor: null, size: 1 })
  return { valid: true, unique_tenant_id: new URL(ctx.settings.base_url).host }
}
