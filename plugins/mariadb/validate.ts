import { nameOf, type Output } from 'keyway/sdk'
import type { Ctx } from './rows.ts'

/** Reads the server's id, which is that of its machine and port. It is the tenant id. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { rows } = await ctx.sql.query('server')
  ctx.raw(rows)
  return { valid: true, unique_tenant_id: rows.map((row) => nameOf(row, 'id')).join() }
}
