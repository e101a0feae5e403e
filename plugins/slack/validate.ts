import type { Output } from 'keyway/sdk'
import { type Ctx, call } from './service.ts'

type Tested = { team_id: string; team: string; user_id: string }

/** Identifies the token, and reads one user, which requires the scope `users:read`. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const tested = await call<Tested>(ctx, 'auth.test')
  await call(ctx, 'users.list', { limit: 1 })
  ctx.raw(tested)
  return { valid: true, unique_tenant_id: tested.team_id }
}
