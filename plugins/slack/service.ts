/** Slack's Web API: methods, lists, and errors in 200 replies. Independent of capabilities. */
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

/** Maximum page size that Slack recommends. */
const MAX_PER_PAGE = 200

/**
 * Calls a method. Slack reports errors in successful replies. connector.json declares how to detect them, and
 * the host throws them with Slack's code in `app_error_code`.
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

/** Listing that always returns a page object, with the items and the cursor. */
export type PagedListing<T> = (at: Parameters<Listing<T>>[0]) => Promise<Paged<T[]>>

type Answer = { response_metadata?: { next_cursor?: string }; [name: string]: unknown }

/**
 * Lists a collection of the API, whose items are in the member `name`. A page may hold fewer items than
 * requested, or none, and still have a successor. Only the cursor shows whether it has one.
 *
 * @throws `invalid_response` if the reply is not a list
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

/** Reports whether an error has one of these Slack codes. */
export const hasSlackCode = (error: unknown, ...words: string[]): boolean =>
  words.includes(String(Object(error).app_error_code))
