/** Types of a connector's code, derived from the tables of the contract. */
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
 * Credentials by kind. The runtime accepts a call only if it has the kind that connector.json declares, so
 * that kind needs no `?.`. Without connector.types.ts, all other kinds are undefined, although their types
 * do not say so.
 */
export type Auth = {
  readonly [K in CredentialKind]: InferOutput<(typeof AUTHENTICATION)[K]>
}

/**
 * Types declared in connector.types.ts, which Keyway generates from connector.json. A credential is named by
 * its kind. Credentials that may be omitted, and settings without a value, are optional.
 */
export type ConnectorTypes = {
  auth?: CredentialKind
  credentials?: { readonly [id: string]: CredentialKind }
  settings: object
  statements?: SqlStatements
  capabilities: object
}

/** One credential: its kind and the fields of that kind. */
type Credential<Kind> = Kind extends CredentialKind ? Pick<Auth, Kind> : never

/** The only credential, or undefined for a connector with several. */
type AuthOf<T> = T extends { auth: infer Kind } ? Credential<Kind> : undefined

type CredentialsOf<T> = T extends { credentials: infer All }
  ? { readonly [Id in keyof All]: Credential<All[Id]> }
  : Record<never, never>

/** The declared SQL statements. */
type StatementsOf<T> = T extends { statements: infer All extends SqlStatements }
  ? All
  : Record<never, never>

/**
 * Second argument of every handler. `ConnectorContext<Connector>`, with `Connector` from connector.types.ts,
 * has the types of the credentials and settings that connector.json declares.
 *
 * Without that file, give the type of the settings, and the ids of the credentials if there are several:
 * `ConnectorContext<{ base_url: string }, 'api' | 'scim'>`. A credential that is `optional` in connector.json
 * may then be undefined, although its type does not say so.
 */
export type ConnectorContext<T = SettingValues, CredentialId extends string = string> = [
  T,
] extends [ConnectorTypes]
  ? Context<T['settings'], AuthOf<T>, CredentialsOf<T>, StatementsOf<T>>
  : Context<T, Auth, { readonly [Id in CredentialId]: Auth }>

/** Fields that connector.json adds to an extensible capability. */
type Extra<N extends CapabilityName, Value> = (typeof CAPABILITIES)[N] extends { extensible: true }
  ? { [field: string]: Value }
  : unknown

type Request<N extends CapabilityName> = Input<N> & Extra<N, SettingValues[string]>
type Response<N extends CapabilityName> = Output<N> & Extra<N, unknown>
/** Accepts readonly arrays for lists. */
type Given<Answer> = Answer extends readonly (infer Item)[] ? readonly Item[] : Answer
type Reply<Answer> = Given<Answer> | Paged<Given<Answer>>

/** Fields that a declared capability adds to its `request` or `response`. */
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
 * Handlers of a connector: one function per capability, by name. With `Connector` from connector.types.ts,
 * exactly the capabilities that connector.json declares.
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
 * Defines a connector, with types from the contract and from its connector.json. An undeclared or missing
 * capability, a wrong field of a credential, an unknown setting or a wrong literal does not compile. At run
 * time it returns its argument.
 *
 * `keyway check` and `keyway dev` write `Connector` to connector.types.ts. A handler takes the validated
 * request and the context. It returns the response, or `paged(response, cursor)` if there may be more items.
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
