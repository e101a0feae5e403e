/** What a connector is to the compiler: every type comes from the contract's tables. */
import type { InferOutput } from 'valibot'
import type {
  CAPABILITIES,
  CapabilityName,
  Input,
  Output,
} from '../contract/capabilities/capabilities.ts'
import type { AUTHENTICATION, CredentialKind } from '../contract/connector/authentication.ts'
import type { Context, SettingValues } from '../contract/connector/context.ts'
import type { SqlStatements } from '../contract/connector/sql-context.ts'
import type { Paged } from './paging.ts'

/**
 * Credentials by kind. The runtime lets a call in only when the kind that connector.json declares is
 * there, so that one needs no `?.`; without connector.types.ts, the others are undefined whatever the
 * type says.
 */
export type Auth = {
  readonly [K in CredentialKind]: InferOutput<(typeof AUTHENTICATION)[K]>
}

/**
 * What connector.types.ts says of a connector: Keyway writes that file from connector.json. A credential
 * is named by its kind; one that may be left out, and a setting without a value, is optional.
 */
export type ConnectorTypes = {
  auth?: CredentialKind
  credentials?: { readonly [id: string]: CredentialKind }
  settings: object
  statements?: SqlStatements
  capabilities: object
}

/** One credential: its kind, and the fields of that kind. */
type Credential<Kind> = Kind extends CredentialKind ? Pick<Auth, Kind> : never

/** The single credential; undefined for a connector that has several. */
type AuthOf<T> = T extends { auth: infer Kind } ? Credential<Kind> : undefined

type CredentialsOf<T> = T extends { credentials: infer All }
  ? { readonly [Id in keyof All]: Credential<All[Id]> }
  : Record<never, never>

/** The declared statements; without any, none has a name. */
type StatementsOf<T> = T extends { statements: infer All extends SqlStatements }
  ? All
  : Record<never, never>

/**
 * The second argument of every handler: `ConnectorContext<Connector>`, with the `Connector` of
 * connector.types.ts, knows the credentials and settings that connector.json declares.
 *
 * Without that file, name the shape of the settings, and the credentials of a connector that has several:
 * `ConnectorContext<{ base_url: string }, 'api' | 'scim'>`. One that is `optional` in connector.json may
 * be undefined then, whatever the type says.
 */
export type ConnectorContext<T = SettingValues, CredentialId extends string = string> = [
  T,
] extends [ConnectorTypes]
  ? Context<T['settings'], AuthOf<T>, CredentialsOf<T>, StatementsOf<T>>
  : Context<T, Auth, { readonly [Id in CredentialId]: Auth }>

/** Fields that connector.json adds to a capability that may be widened. */
type Extra<N extends CapabilityName, Value> = (typeof CAPABILITIES)[N] extends { extensible: true }
  ? { [field: string]: Value }
  : unknown

type Request<N extends CapabilityName> = Input<N> & Extra<N, SettingValues[string]>
type Response<N extends CapabilityName> = Output<N> & Extra<N, unknown>
/** A list may be one that nobody may change. */
type Given<Answer> = Answer extends readonly (infer Item)[] ? readonly Item[] : Answer
type Reply<Answer> = Given<Answer> | Paged<Given<Answer>>

/** The fields that a declared capability adds to its `request` or its `response`. */
type Added<Declared, Part extends 'request' | 'response'> = Declared extends {
  [P in Part]: infer Fields
}
  ? Fields
  : unknown

type DeclaredHandlers<T extends ConnectorTypes> = {
  [N in keyof T['capabilities'] & CapabilityName]: (
    request: Input<N> & Added<T['capabilities'][N], 'request'>,
    ctx: ConnectorContext<T>,
  ) => Answered<Output<N> & Added<T['capabilities'][N], 'response'>>
}

type Answered<Answer> = Reply<Answer> | Promise<Reply<Answer>>

/**
 * What a connector implements: one function per capability, by its name; with the `Connector` of
 * connector.types.ts exactly those that connector.json declares.
 */
export type Handlers<T = SettingValues, CredentialId extends string = string> = [T] extends [
  ConnectorTypes,
]
  ? DeclaredHandlers<T>
  : {
      [N in CapabilityName]?: (
        request: Request<N>,
        ctx: ConnectorContext<T, CredentialId>,
      ) => Answered<Response<N>>
    }

/**
 * A connector's code, typed from the contract and from its own connector.json: a capability that is not
 * declared or not written, a wrong field of a credential, a setting that is not there or a wrong literal
 * do not compile. At run time it gives back what it was given.
 *
 * `Connector` is what `keyway check` and `keyway dev` write to connector.types.ts. A handler takes the
 * validated request and the context, and returns the response, or `paged(response, cursor)` when there
 * may be more.
 *
 * @example
 * import { bearer, client, defineConnector } from 'keyway/sdk'
 * import type { Connector } from './connector.types.ts'
 *
 * export default defineConnector<Connector>({
 *   async list_accounts(_request, ctx) {
 *     const api = client(ctx, {
 *       baseUrl: 'https://api.acme.example/v1',
 *       authorization: bearer(ctx.auth.token.token),
 *     })
 *     const users = await api.get<{ id: string; mail: string }[]>('/users')
 *     return users.map(({ id, mail }) => ({ integration_specific_id: id, email: mail }))
 *   },
 * })
 */
export function defineConnector<T = SettingValues, CredentialId extends string = string>(
  handlers: Handlers<T, CredentialId>,
): Handlers<T, CredentialId> {
  return handlers
}
