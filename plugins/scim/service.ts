/** The SCIM protocol (RFC 7644): the client, lists, filters and patches. Knows no capability. */
import {
  bearer,
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  ifThere,
  type Json,
  offsetPage,
  type Paged,
  type Query,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

export type Ctx = ConnectorContext<Connector>

/** A list response. `Resources` may be absent when it is empty (RFC 7644 section 3.4.2). */
export type ListResponse<T> = { totalResults?: number; Resources?: T[] }

/** One operation of a patch, in the spelling of RFC 7644. */
export type PatchOperation = { op: 'add' | 'replace' | 'remove'; path: string; value?: Json }

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** A client of the tenant's service. */
export const service = (ctx: Ctx): Client =>
  client(ctx, {
    baseUrl: ctx.settings.base_url,
    authorization: bearer(ctx.auth.token.token),
    contentType: 'application/scim+json',
    // Some services say `application/json` and answer 406 to a client that does not take it.
    headers: { accept: 'application/scim+json, application/json' },
  })

/**
 * Reads one page of a list, of `count` items at most, from the item with the number `start` on. SCIM
 * counts from 1. The service may give fewer than it was asked for: the cursor is the number of the
 * item after the last one that it gave.
 *
 * @throws invalid_response when the answer is no list, or empty where more was promised: a list that
 * ends too early would look like people who are gone.
 */
export async function readList<T>(
  ctx: Ctx,
  endpoint: '/Users' | '/Groups',
  at: { start: number; count: number; query?: Query },
): Promise<Paged<T[]>> {
  const { start, count, query } = at
  const list = await service(ctx).get<ListResponse<T> | undefined>(endpoint, {
    query: { ...query, startIndex: start, count },
  })
  ctx.raw((list ?? null) as Json)
  const total = list?.totalResults
  const items = list?.Resources ?? []
  if (!Array.isArray(items) || (total === undefined && list?.Resources === undefined)) {
    throw new ConnectorError('invalid_response', `${endpoint} did not answer with a SCIM list`)
  }
  // The list has shrunk since the last page. Some services answer with their first page then.
  if (total !== undefined && start > Math.max(total, 1)) return offsetPage([], { start, total })
  if (total !== undefined && items.length === 0 && start <= total) {
    throw new ConnectorError(
      'invalid_response',
      `${endpoint} gave no items from number ${start} on, although it claims ${total}`,
    )
  }
  return offsetPage(items, { start, first: 1, total, size: count })
}

/** Sends a patch. The answer is the changed resource, or nothing (204). */
export const patch = <T>(ctx: Ctx, target: string, operations: PatchOperation[]) =>
  service(ctx).patch<T | undefined>(target, { schemas: [PATCH_SCHEMA], Operations: operations })

/** A text as a value in a filter: JSON's own quoting (RFC 7644 section 3.4.2.2). */
export const quote = (text: string): string => JSON.stringify(text)

/** The result, or null where the service does not have the endpoint: some leave parts out. */
export const ifServed = <T>(result: Promise<T>): Promise<T | null> =>
  ifThere(result, 'not_found', 'unsupported_operation')
