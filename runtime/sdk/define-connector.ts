/** What a connector is to the compiler: every type comes from the contract's tables. */
import type { InferOutput } from 'valibot'
import type { AUTHENTICATION, CredentialKind } from '../contract/authentication.ts'
import type { CAPABILITIES, CapabilityName, Input, Output } from '../contract/capabilities.ts'
import type { Context, SettingValues } from '../contract/context.ts'
import type { Paged } from './paging.ts'

/**
 * Credentials by kind. The runtime lets a call in only when the kind that connector.json declares is
 * there, so that one needs no `?.`; the others are undefined whatever the type says.
 */
export type Auth = {
  readonly [K in CredentialKind]: InferOutput<(typeof AUTHENTICATION)[K]>
}

/**
 * The second argument of every handler.
 *
 * `Settings` is the shape of the tenant's settings. `CredentialId` names the credentials of a
 * connector that has several; one that is `optional` in connector.json may be undefined: read it with
 * `ctx.credentials.scim?.token.token`.
 */
export type ConnectorContext<
  Settings = SettingValues,
  CredentialId extends string = string,
> = Context<Settings, Auth, { readonly [Id in CredentialId]: Auth }>

/** Fields that connector.json adds to a capability that may be widened. */
type Extra<N extends CapabilityName, Value> = (typeof CAPABILITIES)[N] extends { extensible: true }
  ? { [field: string]: Value }
  : unknown

type Request<N extends CapabilityName> = Input<N> & Extra<N, SettingValues[string]>
type Response<N extends CapabilityName> = Output<N> & Extra<N, unknown>
type Reply<N extends CapabilityName> = Response<N> | Paged<Response<N>>

/** What a connector implements: one function per capability, by its name. */
export type Handlers<Settings = SettingValues, CredentialId extends string = string> = {
  [N in CapabilityName]?: (
    request: Request<N>,
    ctx: ConnectorContext<Settings, CredentialId>,
  ) => Reply<N> | Promise<Reply<N>>
}

/**
 * A connector's code, typed from the contract: a misspelt capability, a wrong field of a credential
 * or a wrong literal do not compile. At run time it gives back what it was given.
 *
 * A handler takes the validated request and the context, and returns the response, or
 * `paged(response, cursor)` when there may be more.
 *
 * @example
 * export default defineConnector<{ base_url: string }>({
 *   async get_account(request, ctx) {
 *     const api = client(ctx, {
 *       baseUrl: ctx.settings.base_url,
 *       authorization: bearer(ctx.auth.token.token),
 *     })
 *     return toAccount(await api.get<User>(path`/users/${request.account_id}`))
 *   },
 * })
 */
export function defineConnector<Settings = SettingValues, CredentialId extends string = string>(
  handlers: Handlers<Settings, CredentialId>,
): Handlers<Settings, CredentialId> {
  return handlers
}
