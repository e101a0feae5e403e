/** Returns answers that the caller can predict for its tenant. */
import { type ConnectorContext, ConnectorError, defineConnector, paged } from 'keyway/sdk'

const PAGE = 40
const ACCOUNTS = 100
const LARGE = 3000

/** The first tenant that this isolate served: all later ones must be the same. */
let owner: string | null = null

function tenantOf({ settings }: ConnectorContext): string {
  owner ??= String(settings.tenant)
  return owner
}

const account = (tenant: string, n: number) => ({
  integration_specific_id: `${tenant}-${n}`,
  email: `person.${n}@${tenant}.example.com`,
  given_name: `Person ${n}`,
})

async function ask(ctx: ConnectorContext, path: string, method = 'GET') {
  const reply = await ctx.fetch(`${ctx.settings.base_url}/${tenantOf(ctx)}/${path}`, {
    method,
    headers: { authorization: `Bearer ${ctx.auth.token.token}` },
  })
  if (!reply.ok) throw await ConnectorError.from(reply)
  return reply.text()
}

export default defineConnector({
  list_accounts(_request, ctx) {
    const tenant = tenantOf(ctx)
    const from = Number(ctx.page.cursor ?? 0)
    const count = Math.min(PAGE, ACCOUNTS - from)
    const accounts = Array.from({ length: count }, (_, n) => account(tenant, from + n))
    return paged(accounts, from + count < ACCOUNTS ? from + count : null)
  },
  async get_account({ account_id }, ctx) {
    return { integration_specific_id: await ask(ctx, `accounts/${account_id}`) }
  },
  list_resources(_request, ctx) {
    const tenant = tenantOf(ctx)
    return Array.from({ length: LARGE }, (_, n) => ({
      integration_specific_id: `${tenant}-${n}`,
      label: `A resource of ${tenant} with a label of some length, number ${n}`,
      resource_type: 'SHELF',
    }))
  },
  async assign_entitlement({ entitlement_integration_specific_id }, ctx) {
    await ask(ctx, `grants/${entitlement_integration_specific_id}`, 'POST')
    return { assigned: true }
  },
})
