/** Slack's Web API: methods, lists, and errors inside 200. Knows no capability. */
import {
  bearer,
  type ConnectorContext,
  ConnectorError,
  client,
  cursorPage,
  form,
  type Listing,
  type Paged,
  type Query,
  textCursor,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Most items that Slack recommends to ask for at once. */
const MAX_PER_PAGE = 200

/**
 * Calls a method. Errors are told in answers of success: connector.json says which, and the host
 * throws them with Slack's own word in `app_error_code`.
 */
export async function call<T>(ctx: Ctx, method: string, parameters: Query = {}): Promise<T> {
  const api = client(ctx, { baseUrl: ctx.settings.base_url, authorization: bearer(tokenOf(ctx)) })
  return api.post<T>([method], form(parameters))
}

function tokenOf({ credentials: { token, oauth } }: Ctx): string {
  const found = token?.token.token ?? oauth?.oauth.access_token
  if (found !== undefined) return found
  throw new ConnectorError('bad_request', 'Give one of the credentials token and oauth')
}

/** A listing whose pages are always open: what one gave, and its cursor. */
export type PagedListing<T> = (at: Parameters<Listing<T>>[0]) => Promise<Paged<T[]>>

type Answer = { response_metadata?: { next_cursor?: string }; [name: string]: unknown }

/**
 * A list of the API, whose items are under a name of its own. A page may hold fewer than were asked
 * for, or none, and others follow: only the cursor tells.
 *
 * @throws invalid_response when the answer is no list.
 */
export function listing<T>(
  ctx: Ctx,
  method: string,
  name: string,
  parameters: Query = {},
): PagedListing<T> {
  return async (at) => {
    const answer = await call<Answer | undefined>(ctx, method, {
      ...parameters,
      cursor: textCursor(at),
      limit: Math.min(at.size ?? MAX_PER_PAGE, MAX_PER_PAGE),
    })
    const items = answer?.[name]
    if (!Array.isArray(items))
      throw new ConnectorError('invalid_response', `${method} did not answer with a list`)
    return cursorPage<T>(items, answer?.response_metadata?.next_cursor)
  }
}

/** Whether Slack has said no with one of these words. */
export const said = (error: unknown, ...words: string[]): boolean =>
  words.includes(String(Object(error).app_error_code))
