/** Acme: one function per capability that connector.json declares. */
import {
  bearer,
  type ConnectorContext,
  client,
  cursorPage,
  defineConnector,
  type Output,
  path,
  textCursor,
} from 'keyway/sdk'
// Types of what connector.json declares, written by `keyway check` and `keyway dev`.
import type { Connector } from './connector.types.ts'

/** Records of Acme's API. Only the fields that the connector reads are listed. */
type User = { id: string; email: string; name: { first: string; last: string }; enabled: boolean }
type Role = { id: string; title: string }

/** Returns a client of the tenant's API. Do not keep state between calls: any call may be the first one. */
const api = (ctx: ConnectorContext<Connector>) =>
  client(ctx, {
    baseUrl: `https://${ctx.settings.subdomain}.acme.example/v1`,
    // Sent only to the hosts in `egress`. No other host is reachable.
    authorization: bearer(ctx.auth.token.token),
  })

export default defineConnector<Connector>({
  // Throws `unauthenticated` if the token is wrong. The client maps every status other than 2xx.
  async validate_credentials(_request, ctx) {
    const { workspace } = await api(ctx).get<{ workspace: { id: string } }>('/me')
    return { valid: true, unique_tenant_id: workspace.id }
  },

  // One upstream page is one page. The runtime wraps the cursor and passes it back for the next page.
  async list_accounts(_request, ctx) {
    const page = await api(ctx).get<{ users: User[]; next?: string }>('/users', {
      query: { after: textCursor(ctx), limit: ctx.page.size ?? 100 },
    })
    ctx.raw(page)
    return cursorPage(page.users.map(toAccount), page.next)
  },

  // A short list may be returned whole, regardless of the requested page.
  async list_entitlements(_request, ctx) {
    const { roles } = await api(ctx).get<{ roles: Role[] }>('/roles')
    return roles.map((role) => ({
      entitlement_type: 'ROLE',
      integration_specific_id: role.id,
      integration_specific_resource_id: '', // the global resource
      label: role.title,
    }))
  },

  async assign_entitlement(request, ctx) {
    const user = request.account_integration_specific_id
    const role = request.entitlement_integration_specific_id
    // `path` encodes the inserted values. A PUT is idempotent: assigning twice is not an error.
    await api(ctx).put(path`/users/${user}/roles/${role}`)
    return { assigned: true }
  },
})

/** An account that is temporarily disabled is SUSPENDED. The type annotation checks every member. */
const toAccount = (user: User): Output<'list_accounts'>[number] => ({
  integration_specific_id: user.id,
  email: user.email,
  given_name: user.name.first,
  family_name: user.name.last,
  user_status: user.enabled ? 'ACTIVE' : 'SUSPENDED',
})
