/** Management API: client, errors and lists. Independent of capabilities. */
import {
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** Returns a client of the tenant's cluster. */
export const service = (ctx: Ctx): Client =>
  client(ctx, {
    baseUrl: ctx.settings.base_url,
    authorization: ctx.basic(),
    onError: errorOf,
  })

/**
 * Converts a failed reply to an error. The server answers 401 both for a wrong password (`not_authorized`, or
 * an empty body) and for a user without the right (`not_authorised`), and 400 for a permission of an unknown
 * user or virtual host.
 */
async function errorOf(reply: UpstreamReply): Promise<Error> {
  const error = await ConnectorError.from(reply)
  if (reply.status === 401 && error.app_error_code === 'not_authorised')
    return new ConnectorError('permission_denied', error.message, error)
  if (reply.status === 400 && error.message.includes('"vhost_or_user_not_found"'))
    return new ConnectorError('not_found', error.message, error)
  return error
}

/**
 * Returns a whole list. The server's pages are not used: `/users` has none (3.10), and those of `/vhosts` are
 * numbered, so a deletion during the listing would skip an item.
 *
 * @throws `invalid_response` if the reply is not a list
 */
export async function readList<T>(
  ctx: Ctx,
  endpoint: '/users' | '/vhosts' | '/permissions',
  columns: (keyof T & string)[],
): Promise<T[]> {
  const items = await service(ctx).get<T[]>(endpoint, { query: { columns: columns.join() } })
  if (!Array.isArray(items))
    throw new ConnectorError('invalid_response', `${endpoint} did not answer with a list`)
  return items
}
