/**
 * The context of a handler: the second argument of every capability. Types only. The sandbox's prelude
 * (runtime/worker/guest) creates the object, `keyway/sdk` exports the types to authors.
 */
import type { Json } from '../schema/json.ts'
import type { AuthCredential } from './authentication.ts'
import type { Ldap } from './ldap-context.ts'
import type { Signing } from './signing.ts'
import type { Sql, SqlStatements } from './sql-context.ts'

/** Options of `ctx.fetch`. The body is text, bytes, a form or search parameters. */
export type FetchInit = {
  method?: string
  headers?: Record<string, string> | [string, string][] | GuestHeaders
  body?: string | Uint8Array | ArrayBuffer | URLSearchParams | GuestFormData | null
  /** `follow` (the default: up to 5 hops, each checked by the egress policy), `manual` or `error`. */
  redirect?: 'follow' | 'manual' | 'error'
  signal?: GuestAbortSignal
}

/** The part of WHATWG `Headers` that the sandbox has. */
export type GuestHeaders = Pick<Headers, 'get' | 'has' | 'set' | 'append' | 'delete' | 'forEach'> &
  Iterable<[string, string]>

/** The part of WHATWG `FormData` that the sandbox has. */
export type GuestFormData = Pick<FormData, 'append' | 'get' | 'getAll' | 'has' | 'set' | 'delete'>

/** The part of WHATWG `AbortSignal` that the sandbox has. */
export type GuestAbortSignal = Pick<
  AbortSignal,
  'aborted' | 'reason' | 'throwIfAborted' | 'addEventListener' | 'removeEventListener'
>

/** Response of an upstream. The whole body was read (up to the reply limit) before the promise resolved. */
export type UpstreamReply = {
  readonly ok: boolean
  readonly status: number
  /** Final address, after redirects. */
  readonly url: string
  readonly redirected: boolean
  readonly headers: GuestHeaders
  text(): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: as in WHATWG fetch, the caller says what the JSON is
  json<T = any>(): Promise<T>
  bytes(): Promise<Uint8Array>
}

/** Structured log lines of a connector. They are limited in number and size; secrets are removed. */
type GuestLog = Record<
  'debug' | 'info' | 'warn' | 'error',
  (message: string, fields?: Record<string, Json>) => void
>

/** Settings as the manifest declares them: a flat object of scalars. */
export type SettingValues = Record<string, string | number | boolean | undefined>

/** The second argument of every handler. */
export type Context<
  Settings = SettingValues,
  Auth = AuthCredential,
  Credentials = Record<string, AuthCredential | undefined>,
  Statements extends SqlStatements = SqlStatements,
> = {
  /** Sends one request. Only declared hosts, paths and methods can be reached (manifest `egress`). */
  fetch(url: string | URL, init?: FetchInit): Promise<UpstreamReply>
  /** A directory that the manifest declares (`egress` with `ldap`). */
  readonly ldap: Ldap
  /** A database that the manifest declares (`egress` with `sql`), used through the declared statements. */
  readonly sql: Sql<Statements>
  /** The call's single credential, by kind: `ctx.auth.token.token`. */
  readonly auth: Auth
  /** The call's several credentials, by the manifest's credential id. */
  readonly credentials: Credentials
  /** The tenant's settings, validated, with defaults filled in. */
  readonly settings: Settings
  /** The connector's cursor from the previous page (null on the first), and the requested size, if any. */
  readonly page: { readonly cursor: Json; readonly size: number | null }
  /** Stores a value for `raw_data`. The last one wins. Dropped unless the caller asked for it. */
  raw(value: unknown): void
  /** Log lines, by level: `ctx.log.info('read', { count: 3 })`. Capped, and without secrets. */
  readonly log: GuestLog
  /** Aborted when the caller hangs up or the deadline passes. */
  readonly signal: GuestAbortSignal
  /** Returns the `Authorization` value of the call's basic credential, or of any given pair. */
  basic(user?: string, password?: string): string
  /** Tokens and signatures made by the host. The sandbox never holds a key. */
  readonly sign: Signing
  /** The token of the manifest's `exchange`, for places outside its `use`; undefined without an exchange. */
  readonly exchange: string | undefined
  /** Returns the time, in milliseconds since the Unix epoch. */
  now(): number
}
