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
// What connector.json declares, as types: written by `keyway check` and `keyway dev`.
import type { Connector } from './connector.types.ts'

/** The records of Acme's API, as far as they are read here. */
type User = { id: string; email: string; name: { first: string; last: string }; enabled: boolean }
type Role = { id: string; title: string }

/** A client of the tenant's API. A state of its own is not worth keeping: every call may be the first. */
const api = (ctx: ConnectorContext<Connector>) =>
  client(ctx, {
    baseUrl: `https://${ctx.settings.subdomain}.acme.example/v1`,
    // Sent to the hosts of `egress` only: nothing else can be reached.
    authorization: bearer(ctx.auth.token.token),
  })

export default defineConnector<Connector>({
  // Throws `unauthenticated` when the token is wrong: the client maps every status but 2xx.
  async validate_credentials(_request, ctx) {
    const { workspace } = await api(ctx).get<{ workspace: { id: string } }>('/me')
    return { valid: true, unique_tenant_id: workspace.id }
  },

  // One upstream page is one page: the runtime wraps the cursor and hands it back for the next one.
  async list_accounts(_request, ctx) {
    const page = await api(ctx).get<{ users: User[]; next?: string }>('/users', {
      query: { after: textCursor(ctx), limit: ctx.page.size ?? 100 },
    })
    ctx.raw(page)
    return cursorPage(page.users.map(toAccount), page.next)
  },

  // Short lists may be answered whole, whatever page was asked for.
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
    // `path` encodes what is inserted. A PUT may be repeated: assigning twice is no error.
    await api(ctx).put(path`/users/${user}/roles/${role}`)
    return { assigned: true }
  },
})

/** Switched off for a while is SUSPENDED. The annotation checks every member while you type. */
const toAccount = (user: User): Output<'list_accounts'>[number] => ({
  integration_specific_id: user.id,
  email: user.email,
  given_name: user.name.first,
  family_name: user.name.last,
  user_status: user.enabled ? 'ACTIVE' : 'SUSPENDED',
})
