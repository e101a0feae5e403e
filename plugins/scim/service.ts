/** SCIM protocol (RFC 7644): client, lists, filters and patches. Independent of capabilities. */
import {
  bearer,
  type Client,
  type ConnectorContext,
  ConnectorError,
  client,
  ifThere,
  type Json,
  keysCursor,
  type Listing,
  offsetListing,
  type Path,
  paged,
  type Query,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'
import { spell } from './spelling.ts'

export type Ctx = ConnectorContext<Connector>

/** List response. `Resources` may be absent if it is empty (RFC 7644 section 3.4.2). */
export type ListResponse<T> = { totalResults?: number; Resources?: T[] }

/** Operation of a patch, as spelled in RFC 7644. */
export type PatchOperation = { op: 'add' | 'replace' | 'remove'; path: string; value?: Json }

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

type Service = Pick<Client, 'get' | 'post' | 'patch' | 'delete'>

/**
 * Returns a client of the tenant's service. The members of replies have the names of RFC 7643, regardless of
 * the service's spelling.
 *
 * @throws the error that the service reports, even with a 2xx status
 */
export function service(ctx: Ctx): Service {
  const api = client(ctx, {
    baseUrl: ctx.settings.base_url,
    authorization: bearer(ctx.auth.token.token),
    contentType: 'application/scim+json',
    // Some services send `application/json` and answer 406 to a client that does not accept it.
    headers: { accept: 'application/scim+json, application/json' },
  })
  const read = async <T>(target: Path, answer: Promise<T>): Promise<T> =>
    successOf(`${ctx.settings.base_url}${target}`, await answer)
  return {
    get: (target, given) => read(target, api.get(target, given)),
    post: (target, body, given) => read(target, api.post(target, body, given)),
    patch: (target, body, given) => read(target, api.patch(target, body, given)),
    delete: (target, given) => read(target, api.delete(target, given)),
  }
}

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

/**
 * Returns a reply with normalised names.
 *
 * @throws the error if the reply is one (RFC 7644 section 3.12), regardless of its status
 */
async function successOf<T>(url: string, answer: T): Promise<T> {
  spell(answer)
  const { schemas, status }: { schemas?: unknown; status?: unknown } = Object(answer)
  if (!Array.isArray(schemas) || !schemas.includes(ERROR_SCHEMA)) return answer
  const statusNumber = Number(status)
  throw await ConnectorError.from({
    status: statusNumber >= 400 && statusNumber <= 599 ? statusNumber : 500,
    url,
    text: async () => JSON.stringify(answer),
  })
}

/**
 * Lists a collection. `size` is the page size if the caller requests none. SCIM counts from 1. The cursor
 * holds the number of the next item and the id of the page's first item.
 *
 * @throws `invalid_response` if the reply is not a list, is empty although more items were promised, or
 * starts with the same item as the previous page. A service that ignores `startIndex` would otherwise be
 * listed endlessly, or without its further pages.
 */
export const listing =
  <T>(
    ctx: Ctx,
    endpoint: '/Users' | '/Groups',
    options: { size: number; most?: number; query?: Query },
  ): Listing<T> =>
  async ({ cursor, size }) => {
    const [offset, before] = keysCursor({ cursor }, [1, ''])
    const page = await pages<T>(ctx, endpoint, options)({ cursor: offset, size })
    const { response, cursor: next } = '__paged' in page ? page : paged(page)
    const first = String(Object(response[0]).id ?? '')
    if (offset > 1 && first !== '' && first === before)
      throw new ConnectorError(
        'invalid_response',
        `${endpoint} began with the same item from number ${offset} on as on the page before: the service ignores startIndex, and cannot be listed whole`,
      )
    return paged(response, next === null ? null : [next, first])
  }

const pages = <T>(
  ctx: Ctx,
  endpoint: '/Users' | '/Groups',
  { query, ...sizes }: { size: number; most?: number; query?: Query },
): Listing<T> =>
  offsetListing(
    async ({ offset, limit }) => {
      const list = await service(ctx).get<ListResponse<T> | undefined>(endpoint, {
        query: { ...query, startIndex: offset, count: limit },
      })
      ctx.raw(list ?? null)
      const { totalResults: total, Resources } = list ?? {}
      if (!Array.isArray(Resources ?? []) || (total === undefined && Resources === undefined))
        throw new ConnectorError('invalid_response', `${endpoint} did not answer with a SCIM list`)
      return { items: Resources ?? [], total }
    },
    { first: 1, most: Number.MAX_SAFE_INTEGER, ...sizes },
  )

/** Sends a patch. Returns the changed resource, or undefined if the reply is empty (204). */
export const patch = <T>(ctx: Ctx, target: string, operations: PatchOperation[]) =>
  service(ctx).patch<T | undefined>(target, { schemas: [PATCH_SCHEMA], Operations: operations })

/** Quotes a text as a value in a filter, as in JSON (RFC 7644 section 3.4.2.2). */
export const quote = (text: string): string => JSON.stringify(text)

/** Returns the result, or null if the service lacks the endpoint. Some services omit optional parts. */
export const ifServed = <T>(result: Promise<T>): Promise<T | null> =>
  ifThere(result, 'not_found', 'unsupported_operation')
