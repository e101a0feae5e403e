import { type Output, path } from 'keyway/sdk'
import { type Ctx, customer, directory } from './service.ts'

type Customer = { id: string; customerDomain?: string }

/** Reads the customer and one user. The customer's id stays the same when its domain changes. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const found = await directory(ctx).get<Customer>(path`/customers/${customer(ctx)}`)
  await directory(ctx).get('/users', { query: { customer: customer(ctx), maxResults: 1 } })
  ctx.raw(found)
  return { valid: true, unique_tenant_id: found.id }
}
