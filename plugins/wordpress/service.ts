/** REST API: requests, replies and errors. Independent of capabilities. */
import {
  type BodyOptions,
  type ConnectorContext,
  ConnectorError,
  client,
  type Query,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Query and JSON body of a request. */
type Given = { query?: Query; json?: unknown }

/**
 * Sends a request to a route, such as `/wp/v2/users`, and returns the JSON of the reply.
 *
 * @throws the code of the reply's status or body; `invalid_response` if the reply is not JSON
 */
export async function ask<T>(ctx: Ctx, method: string, route: string, given?: Given): Promise<T> {
  return (await replyOf<T>(ctx, method, route, given)).body
}

/** Sends a request like `ask`, and returns the headers of the reply as well. */
export async function replyOf<T>(
  ctx: Ctx,
  method: string,
  route: string,
  { query, json }: Given = {},
): Promise<{ body: T; headers: UpstreamReply['headers'] }> {
  const api = client(ctx, {
    baseUrl: ctx.settings.base_url,
    authorization: ctx.basic(),
    onError: errorOf,
  })
  const plain = ctx.settings.permalinks === 'plain'
  const options: BodyOptions = {
    query: plain ? { rest_route: route, ...query } : query,
    ...(json === undefined ? {} : { json }),
  }
  const reply = await api.request(method, plain ? '/' : `/wp-json${route}`, options)
  return { body: jsonOf<T>(await reply.text()), headers: reply.headers }
}

/**
 * Parses JSON.
 *
 * @throws `invalid_response` with the usual cause
 */
function jsonOf<T>(text: string): T {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // JSON at one end of the text means that other text was added at the other end.
    const mixed = /^\s*[[{]/.test(text) || /[\]}]/.test(text.trimEnd().at(-1) ?? '')
    const why = mixed
      ? 'A plugin or theme of the site writes text around the JSON, such as a PHP notice. Set WP_DEBUG_DISPLAY to false in wp-config.php'
      : 'It is a page. Where Settings > Permalinks says Plain, set `permalinks` to `plain`; else check base_url, and plugins that block the REST API'
    throw new ConnectorError('invalid_response', `WordPress did not answer with JSON. ${why}`, {
      cause,
    })
  }
}

/** Codes of WordPress whose meaning differs from their status. */
const MEANINGS: Readonly<Record<string, 'not_found' | 'bad_request' | 'unsupported_operation'>> = {
  rest_no_route: 'unsupported_operation',
  // Sent with 500, as is every failure while writing a user.
  empty_user_login: 'bad_request',
  invalid_username: 'bad_request',
  user_login_too_long: 'bad_request',
  user_nicename_too_long: 'bad_request',
}

/** Advice for codes about which WordPress gives none. */
const ADVICE: Readonly<Record<string, string>> = {
  rest_no_route:
    'The site does not offer this part of the REST API: look for a plugin that switches it off',
  rest_cannot_delete:
    'A network of sites deletes none by REST: take the roles of the user, or delete it under Network Admin > Users',
  application_passwords_disabled:
    'They need HTTPS, and no plugin that switches them off: Tools > Site Health',
}

async function errorOf(reply: UpstreamReply): Promise<ConnectorError> {
  const error = await ConnectorError.from(reply)
  const { status_code, app_error_code, raised_by } = error
  const code = app_error_code ?? ''
  // The routes answer 401 only if no user is signed in, so the password was not accepted.
  const isSignedOut = status_code === 401 && code.startsWith('rest_')
  const advice = isSignedOut
    ? 'The user name or the application password is wrong, or application passwords are switched off, or the web server drops the Authorization header'
    : ADVICE[code]
  const meaning = status_code === 401 ? undefined : MEANINGS[code]
  if (advice === undefined && meaning === undefined) return error
  const message = advice === undefined ? error.message : `${error.message}. ${advice}`
  return new ConnectorError(meaning ?? error.error_code, message, {
    app_error_code,
    status_code,
    raised_by,
  })
}
