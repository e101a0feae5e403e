import { nameOf, type Output } from 'keyway/sdk'
import type { Ctx } from './rows.ts'

/** The tenant is the server: its id is that of its machine and port. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { rows } = await ctx.sql.query('server')
  ctx.raw(rows)
  return { valid: true, unique_tenant_id: rows.map((row) => nameOf(row, 'id')).join() }
}
