import type { Context, FetchInit, UpstreamReply } from '../contract/connector/context.ts'
import { ConnectorError } from './connector-error.ts'
import { readJson } from './json.ts'
import { joinUrl, type Path, type Query } from './url.ts'
import { wholeJson } from './whole-text.ts'

/** Options of a client of one system. */
export type ClientOptions = {
  /** Base address to which paths are appended. It may have a path itself. */
  baseUrl: string | URL
  /** Value of the `Authorization` header of every request; see `bearer` and `basic`. */
  authorization?: string | undefined
  headers?: Record<string, string> | undefined
  /** Media type of JSON bodies; `application/json` by default. */
  contentType?: string | undefined
  /** Creates the error for a response that is not 2xx. Default: `ConnectorError.from`. */
  onError?: ((reply: UpstreamReply) => Error | Promise<Error>) | undefined
}

/** Options of one request. */
export type RequestOptions = { query?: Query | undefined; headers?: Record<string, string> }

/** Options of `request` and `delete`: also a body, as JSON or in any other form. */
export type BodyOptions = RequestOptions & { json?: unknown; body?: FetchInit['body'] }

/**
 * Sends requests to one system. Bodies are JSON in both directions; a response that is not 2xx is thrown as
 * an error. A body that is a form (`form`, URLSearchParams or FormData) is sent as a form.
 */
export type Client = {
  get<T = unknown>(path: Path, options?: RequestOptions): Promise<T>
  post<T = unknown>(path: Path, body?: unknown, options?: RequestOptions): Promise<T>
  put<T = unknown>(path: Path, body?: unknown, options?: RequestOptions): Promise<T>
  patch<T = unknown>(path: Path, body?: unknown, options?: RequestOptions): Promise<T>
  /** Takes a body if the system needs one: `api.delete(path, { json: { hard: true } })`. */
  delete<T = unknown>(path: Path, options?: BodyOptions): Promise<T>
  /** Returns the response itself, for its headers or a body that is not JSON. Throws unless it is 2xx. */
  request(method: string, path: Path, options?: BodyOptions): Promise<UpstreamReply>
}

/**
 * Creates a client of one system for the duration of one call.
 *
 * Paths are strings, `path` templates, or arrays of segments, which are encoded. A response without a body
 * becomes undefined.
 *
 * @throws the code of the response's status; `invalid_response` if a body is not JSON; `bad_request` if text
 * to send contains a lone surrogate
 *
 * @example
 * const api = client(ctx, {
 *   baseUrl: ctx.settings.base_url,
 *   authorization: bearer(ctx.auth.token.token),
 * })
 * const { users } = await api.get<{ users: User[] }>('/users', { query: { limit: 100 } })
 * await api.delete(path`/users/${request.account_id}`)
 */
export function client(ctx: Pick<Context, 'fetch'>, options: ClientOptions): Client {
  const onError = options.onError ?? ((reply: UpstreamReply) => ConnectorError.from(reply))

  const request: Client['request'] = async (method, target, given = {}) => {
    const { body, type } = bodyOf(given, options.contentType ?? JSON_TYPE)
    const reply = await ctx.fetch(joinUrl(options.baseUrl, target, given.query), {
      method,
      headers: headersOf(
        { accept: options.contentType ?? JSON_TYPE, 'content-type': type },
        { authorization: options.authorization },
        options.headers,
        given.headers,
      ),
      ...(body === undefined ? {} : { body }),
    })
    if (!reply.ok) throw await onError(reply)
    return reply
  }
  const send =
    (method: string) =>
    async <T>(target: Path, body?: unknown, given: RequestOptions = {}): Promise<T> =>
      readJson<T>(
        await request(method, target, { ...given, ...(isForm(body) ? { body } : { json: body }) }),
      )
  const plain =
    (method: string) =>
    async <T>(target: Path, given: BodyOptions = {}): Promise<T> =>
      readJson<T>(await request(method, target, given))

  return {
    request,
    get: plain('GET'),
    delete: plain('DELETE'),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
  }
}

const JSON_TYPE = 'application/json'

/** Reports whether a body is a form. As JSON it would become `{}`. */
const isForm = (body: unknown): body is URLSearchParams | FormData =>
  body instanceof URLSearchParams || body instanceof FormData

/** Returns the body to send and its media type. The sandbox sets the type of forms. */
function bodyOf({ json, body }: BodyOptions, jsonType: string) {
  if (json === undefined) return { body, type: undefined }
  return { body: wholeJson(JSON.stringify(json)), type: jsonType }
}

/** Merges headers. Later ones win, ignoring the case of names; undefined values are omitted. */
function headersOf(
  ...groups: (Record<string, string | undefined> | undefined)[]
): Record<string, string> {
  const merged = groups
    .flatMap((group) => Object.entries(group ?? {}))
    .flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value] as const]))
  return Object.fromEntries(merged)
}
