/**
 * What a handler gets beside its request: the second argument of every capability. Types only; the
 * sandbox's prelude (runtime/worker/guest) makes the object, `keyway/sdk` shows it to authors.
 */
import type { Json } from '../schema/json.ts'
import type { AuthCredential } from './authentication.ts'
import type { Ldap } from './ldap-context.ts'
import type { Signing } from './signing.ts'
import type { Sql, SqlStatements } from './sql-context.ts'

/** What `ctx.fetch` accepts beside the address. The body is text, bytes, a form or search parameters. */
export type FetchInit = {
  method?: string
  headers?: Record<string, string> | [string, string][] | GuestHeaders
  body?: string | Uint8Array | ArrayBuffer | URLSearchParams | GuestFormData | null
  /** `follow` (the default: up to 5 hops, each judged by the egress policy), `manual` or `error`. */
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

/** An upstream's answer. The body was read whole (up to the reply limit) before the promise resolved. */
export type UpstreamReply = {
  readonly ok: boolean
  readonly status: number
  /** The address that answered, after redirects. */
  readonly url: string
  readonly redirected: boolean
  readonly headers: GuestHeaders
  text(): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: as in WHATWG fetch, the caller says what the JSON is
  json<T = any>(): Promise<T>
  bytes(): Promise<Uint8Array>
}

/** Structured log lines of a connector: capped in number and size, without secrets. */
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
  /** Sends one request. Only declared hosts, paths and methods are reached (manifest `egress`). */
  fetch(url: string | URL, init?: FetchInit): Promise<UpstreamReply>
  /** A directory that the manifest declares (`egress` with `ldap`). */
  readonly ldap: Ldap
  /** A database that the manifest declares (`egress` with `sql`), by the statements that it declares. */
  readonly sql: Sql<Statements>
  /** The call's single credential, by kind: `ctx.auth.token.token`. */
  readonly auth: Auth
  /** The call's several credentials, by the manifest's credential id. */
  readonly credentials: Credentials
  /** The tenant's settings, validated, defaults filled in. */
  readonly settings: Settings
  /** The author's own cursor of the previous page (null on the first) and the size asked for, if any. */
  readonly page: { readonly cursor: Json; readonly size: number | null }
  /** Keeps a value for `raw_data`; the last one wins; dropped unless the caller asked for it. */
  raw(value: unknown): void
  /** Log lines, by level: `ctx.log.info('read', { count: 3 })`; capped, and secrets are taken out. */
  readonly log: GuestLog
  /** Aborted when the caller hangs up or the deadline has passed. */
  readonly signal: GuestAbortSignal
  /** The `Authorization` value of the call's basic credential, or of any pair. */
  basic(user?: string, password?: string): string
  /** Tokens and signatures that the host makes: the sandbox never holds a key. */
  readonly sign: Signing
  /** What the manifest's `exchange` gives, for where its `use` does not put it; undefined without one. */
  readonly exchange: string | undefined
  /** The time, in milliseconds since the Unix epoch. */
  now(): number
}
