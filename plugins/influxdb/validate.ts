import { ConnectorError, client, hasCode, type Output } from 'keyway/sdk'
import { readUsers } from './accounts.ts'
import { anonymous, type Ctx } from './service.ts'

/**
 * Lists the users, which requires an administrator, and checks that the server verifies passwords at all. The
 * server has no id, so the tenant id is its address.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  await readUsers(ctx)
  if (await allowsAnonymous(ctx))
    throw new ConnectorError(
      'permission_denied',
      'This InfluxDB checks no passwords: set auth-enabled = true in the section [http] of its configuration',
      { app_error_code: 'auth_disabled' },
    )
  const { host, pathname } = new URL(ctx.settings.base_url)
  return { valid: true, unique_tenant_id: host + pathname.replace(/\/+$/, '') }
}

async function allowsAnonymous(ctx: Ctx): Promise<boolean> {
  try {
    await client(ctx, anonymous(ctx)).get('/query', { query: { q: 'SHOW DATABASES' } })
    return true
  } catch (error) {
    if (hasCode(error, 'unauthenticated')) return false
    throw error
  }
}
