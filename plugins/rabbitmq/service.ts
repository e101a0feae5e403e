/** The management API: the client, its errors, and lists. Knows no capability. */
import {
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  type UpstreamReply,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** A client of the tenant's cluster. */
export const service = (ctx: Ctx): Client =>
  client(ctx, {
    baseUrl: ctx.settings.base_url,
    authorization: ctx.basic(),
    onError: errorOf,
  })

/**
 * The error of a failing answer. The server says 401 both for a wrong password (`not_authorized`, or
 * an empty body) and for a user who may not do this (`not_authorised`), and 400 for a permission of a
 * user or a vhost that is not there.
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
 * A list of the server, whole. Its own pages are not used: `/users` has none (3.10), and those of
 * `/vhosts` are by number, so that one deleted in the middle would hide another.
 *
 * @throws invalid_response when the answer is no list.
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
