import type { Context, FetchInit, UpstreamReply } from '../contract/connector/context.ts'
import { ConnectorError } from './connector-error.ts'
import { readJson } from './json.ts'
import { joinUrl, type Path, type Query } from './url.ts'
import { wholeJson } from './whole-text.ts'

/** How a client talks to one system. */
export type ClientOptions = {
  /** Where paths are joined on; may have a path of its own. */
  baseUrl: string | URL
  /** Sent with every request: see `bearer` and `basic`. */
  authorization?: string | undefined
  headers?: Record<string, string> | undefined
  /** The media type of JSON bodies; `application/json` unless the system has its own. */
  contentType?: string | undefined
  /** Makes the error of an answer that is not 2xx, instead of `ConnectorError.from`. */
  onError?: ((reply: UpstreamReply) => Error | Promise<Error>) | undefined
}

/** What one request may add. */
export type RequestOptions = { query?: Query | undefined; headers?: Record<string, string> }

/** What `request` and `delete` may add: a body as JSON, or any other body. */
export type BodyOptions = RequestOptions & { json?: unknown; body?: FetchInit['body'] }

/**
 * Requests to one system; JSON in, JSON out, everything but 2xx is thrown. A body that is a form (`form`, a
 * URLSearchParams, a FormData) is sent as one.
 */
export type Client = {
  get<T = unknown>(path: Path, options?: RequestOptions): Promise<T>
  post<T = unknown>(path: Path, body?: unknown, options?: RequestOptions): Promise<T>
  put<T = unknown>(path: Path, body?: unknown, options?: RequestOptions): Promise<T>
  patch<T = unknown>(path: Path, body?: unknown, options?: RequestOptions): Promise<T>
  /** With a body where the system wants one: `api.delete(path, { json: { hard: true } })`. */
  delete<T = unknown>(path: Path, options?: BodyOptions): Promise<T>
  /** The answer itself, for its headers or a body that is not JSON; still thrown unless 2xx. */
  request(method: string, path: Path, options?: BodyOptions): Promise<UpstreamReply>
}

/**
 * A client of one system for the length of one call.
 *
 * Paths are strings, `path` templates or arrays of segments (encoded). An answer without a body is
 * undefined.
 *
 * @throws The code of the answer's status, `invalid_response` when a body is not JSON, `bad_request` for a
 * text to send with half of a character (a lone surrogate).
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

/** As JSON, either of them would be `{}`. */
const isForm = (body: unknown): body is URLSearchParams | FormData =>
  body instanceof URLSearchParams || body instanceof FormData

/** The body to send, and its type unless that is the sandbox's own affair (forms). */
function bodyOf({ json, body }: BodyOptions, jsonType: string) {
  if (json === undefined) return { body, type: undefined }
  return { body: wholeJson(JSON.stringify(json)), type: jsonType }
}

/** Later ones win, whatever their spelling; undefined ones are left out. */
function headersOf(
  ...groups: (Record<string, string | undefined> | undefined)[]
): Record<string, string> {
  const merged = groups
    .flatMap((group) => Object.entries(group ?? {}))
    .flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value] as const]))
  return Object.fromEntries(merged)
}
