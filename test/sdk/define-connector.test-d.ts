/** What must compile and what must not. Checked by `tsc`: an unused `@ts-expect-error` is an error. */
import {
  type ConnectorContext,
  ConnectorError,
  chain,
  cursorPage,
  defineConnector,
  mapped,
  type Output,
  offsetListing,
  paged,
  textCursor,
} from '../../runtime/sdk/sdk.ts'

type Person = { id: string; active: boolean }

// The example of the manual: settings in a URL, a credential, a page.
defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ctx.fetch(
      `https://${ctx.settings.subdomain}.acme.example/v1/users?after=${ctx.page.cursor ?? ''}&limit=${ctx.page.size ?? 100}`,
      { headers: { authorization: `Bearer ${ctx.auth.token.token}` } },
    )
    if (!reply.ok) throw await ConnectorError.from(reply)
    const { users, next } = await reply.json<{ users: Person[]; next?: string }>()
    return paged(users.map(toAccount), next)
  },
})

const toAccount = (person: Person): Output<'list_accounts'>[number] => ({
  integration_specific_id: person.id,
  user_status: person.active ? 'ACTIVE' : 'SUSPENDED',
})

// Literals need no annotation, in a page or without one, synchronous or not.
defineConnector<{ base_url: string }>({
  list_accounts: (_request, ctx) =>
    cursorPage(
      [{ integration_specific_id: ctx.settings.base_url, user_status: 'ACTIVE' }],
      textCursor(ctx),
    ),
  get_account: (request) => ({
    integration_specific_id: request.account_id,
    account_type: 'user',
  }),
  deactivate_account: async () => ({ status: 'SUSPENDED', deactivated: true }),
})

// Nor does a mapper; listings of different shapes need their common type.
defineConnector({
  async list_accounts(_request, ctx) {
    const people: Person[] = await (await ctx.fetch('https://a.example')).json()
    return chain<Output<'list_accounts'>[number]>(ctx, {
      people: () =>
        people.map((one) => ({
          integration_specific_id: one.id,
          user_status: one.active ? 'ACTIVE' : 'SUSPENDED',
        })),
      robots: (at) => cursorPage([{ integration_specific_id: 'r', email: 'r@x' }], textCursor(at)),
    })
  },
  async list_entitlements() {
    const groups = [{ id: 'g', label: 'G' }]
    return paged(
      groups.map((one) => ({
        entitlement_type: 'GROUP',
        integration_specific_id: one.id,
        integration_specific_resource_id: '',
        label: one.label,
      })),
    )
  },
  async find_entitlement_associations() {
    return paged([])
  },
})

// The two capabilities that may be widened accept and return additional fields.
defineConnector({
  create_account: (request) => ({
    status: 'ACTIVE',
    created: true,
    id: String(request.title ?? request.email),
    title: request.title,
  }),
  update_account: (request) => ({ id: request.id, title: request['title'] }),
})

// A handler may return the result of a ready-made listing.
defineConnector({
  list_accounts: (_request, ctx) =>
    mapped(
      offsetListing(async () => [{ id: 'u1', active: true }]),
      (one) => [toAccount(one)],
    )(ctx.page),
})

// Its literals need no annotation either, although it is created before it is called.
defineConnector({
  list_accounts: (_request, ctx) =>
    mapped(
      () => [{ id: 'u1', active: true }],
      ({ id, active }) => [
        { integration_specific_id: id, user_status: active ? 'ACTIVE' : 'SUSPENDED' },
      ],
    )(ctx.page),
})

// Several credentials, by their ids.
defineConnector<object, 'api' | 'scim'>({
  validate_credentials: (_request, ctx) => ({
    valid: true,
    unique_tenant_id: ctx.credentials.api.basic.username + ctx.credentials.scim?.token.token,
  }),
})

defineConnector({
  // @ts-expect-error a misspelt capability
  list_acounts: () => [],
})

defineConnector({
  validate_credentials: (_request, ctx) => ({
    valid: true,
    // @ts-expect-error a field that this kind of credential does not have
    unique_tenant_id: ctx.auth.token.tokn,
  }),
})

defineConnector({
  // @ts-expect-error a kind of credential that does not exist
  validate_credentials: (_request, ctx) => ({ valid: true, unique_tenant_id: ctx.auth.tokens.a }),
})

defineConnector({
  // @ts-expect-error a status that is not in the contract
  list_accounts: () => [{ integration_specific_id: 'u1', user_status: 'DISABLED' }],
})

defineConnector({
  // @ts-expect-error a wrong status in a page
  list_accounts: () => paged([{ integration_specific_id: 'u1', user_status: 'DISABLED' }]),
})

defineConnector({
  // @ts-expect-error a member of the response is missing
  activate_account: () => ({ status: 'ACTIVE' }),
})

defineConnector({
  get_account: (request) => ({
    // @ts-expect-error a member that the request does not have
    integration_specific_id: request.user_id,
  }),
})

defineConnector<{ base_url: string }>({
  // @ts-expect-error a setting that is not declared
  list_resources: (_request, ctx) => [ctx.settings.base],
})

defineConnector<object, 'api'>({
  validate_credentials: (_request, ctx) => ({
    valid: true,
    // @ts-expect-error a credential that is not declared
    unique_tenant_id: ctx.credentials.scim.token.token,
  }),
})

// @ts-expect-error not one of the wire's codes
new ConnectorError('conflict', 'taken')

// With the types of its connector.json, a connector has exactly what is declared there.
type Declared = {
  auth: 'basic'
  settings: { base_url: string; mode: 'a' | 'b'; limit?: number }
  capabilities: {
    validate_credentials: unknown
    create_account: { request: { title?: string }; response: { title?: string | null } }
  }
}

defineConnector<Declared>({
  validate_credentials: (_request, ctx) => ({
    valid: ctx.settings.mode === 'a',
    unique_tenant_id: ctx.auth.basic.username + ctx.settings.base_url + (ctx.settings.limit ?? 1),
  }),
  create_account: (request) => ({ status: 'ACTIVE', created: true, title: request.title ?? null }),
})

const validate = { validate_credentials: () => ({ valid: true, unique_tenant_id: 't' }) } as const

// @ts-expect-error a declared capability that is not written
defineConnector<Declared>(validate)

defineConnector<Declared>({
  ...validate,
  create_account: () => ({ status: 'ACTIVE', created: true }),
  // @ts-expect-error a capability that is not declared
  list_accounts: () => [],
})

defineConnector<Declared>({
  ...validate,
  // @ts-expect-error a field that the request does not declare
  create_account: (request) => ({ status: 'ACTIVE', created: true, title: request.tilte }),
})

const basic = (ctx: ConnectorContext<Declared>) => {
  // @ts-expect-error another kind of credential than the declared one
  ctx.auth.oauth
  // @ts-expect-error a setting that is not declared
  ctx.settings.base
  // @ts-expect-error a value that the setting cannot have
  ctx.settings.mode === 'c'
  // @ts-expect-error a setting that may be missing
  ctx.settings.limit.toFixed()
  // @ts-expect-error the connector has a single credential
  ctx.credentials.api
}

type Several = {
  credentials: { api: 'token'; scim?: 'oauth' }
  settings: object
  capabilities: object
}
const several = (ctx: ConnectorContext<Several>) => {
  ctx.credentials.api.token.token.slice()
  ctx.credentials.scim?.oauth.access_token.slice()
  // @ts-expect-error an optional credential
  ctx.credentials.scim.oauth
  // @ts-expect-error another kind than its own
  ctx.credentials.api.basic
  // @ts-expect-error the connector has several credentials
  ctx.auth.token
}

export { basic, several }
