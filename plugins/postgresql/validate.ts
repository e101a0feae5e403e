import { ConnectorError, type Output, textOf } from 'keyway/sdk'
import type { Ctx } from './rows.ts'

/**
 * Reads the server's system identifier, which is the tenant id. It is generated when the server is
 * initialised and never changes.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { rows } = await ctx.sql.query('server')
  ctx.raw(rows)
  const [row] = rows
  const id = row === undefined ? null : textOf(row, 'id')
  if (id !== null) return { valid: true, unique_tenant_id: id }
  throw new ConnectorError('invalid_response', 'The server does not say its system identifier')
}
