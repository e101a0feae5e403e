/** `/scim/v2`: one loop over the table of SCIM operations. Order of checks: token, rate, query, body. */
import { type Context, Hono } from 'hono'
import { parseBodyBytes } from '../../contract/endpoints/body.ts'
import { type Params, parseParams } from '../../contract/endpoints/params.ts'
import {
  SCIM_ENDPOINTS,
  SCIM_NOT_OFFERED,
  SCIM_PATH,
  type ScimEndpointName,
  type ScimRow,
} from '../../contract/endpoints/scim.ts'
import type { CoreError, ValidationEntry } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { SCIM_MEDIA_TYPE, SCIM_URNS } from '../../contract/models/scim.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { placeAt } from '../../contract/schema/place.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { authenticateScim } from '../../core/scim/caller.ts'
import { ScimError } from '../../core/scim/problem.ts'
import {
  askedShape,
  etagOf,
  type ListQuery,
  namesVersion,
  shaped,
} from '../../core/scim/resource.ts'
import { createRateLimit, enforceRate } from '../core/rate-limit.ts'
import type { CoreDeps } from '../core/routes.ts'
import { readBytes } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'
import { originOf } from '../edge/https.ts'
import { logRefusal } from '../edge/log-refusal.ts'
import { serveRows } from '../edge/serve-rows.ts'
import { type RefusalStatus, refusalHeaders, statusOfRefusal } from '../edge/statuses.ts'
import { away, toCoreError } from '../edge/to-core-error.ts'
import { SCIM_HANDLERS } from './handlers.ts'

const JSON_BODY = /^application\/([a-z.+-]+\+)?json\s*(;|$)/i

export function scimRoutes(deps: CoreDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const rate = createRateLimit({ ...CALLER_LIMITS.scim_requests, most: deps.requestsPerMinute })
  const rows = entriesOf<Record<ScimEndpointName, ScimRow>>(SCIM_ENDPOINTS)

  const { onAnswer } = deps
  const wrongMethod = (c: Context<Env>, allow: string) =>
    failure(c, 405, null, 'Method Not Allowed', { allow })
  const { readMs } = deps.parts.pace
  for (const path of SCIM_NOT_OFFERED)
    routes.all(SCIM_PATH + path, (c) =>
      failure(c, 501, null, `${path} is not offered; see /scim/v2/ServiceProviderConfig`),
    )
  serveRows(routes, { rows, prefix: SCIM_PATH, answer, refuse, wrongMethod, onAnswer, readMs })
  routes.all(`${SCIM_PATH}/*`, (c) =>
    failure(c, 404, null, 'There is no such resource type; see /scim/v2/ResourceTypes'),
  )

  async function answer(c: Context<Env>, name: ScimEndpointName, row: ScimRow): Promise<Response> {
    const db = deps.db()
    if (!db) throw away()
    const caller = await authenticateScim(db, deps.hasher, c.req.header('authorization'))
    enforceRate(c, rate, caller.tokenId)
    // Only refusals may carry this header, because providers wait whenever they see it.
    c.header('retry-after', undefined)
    const query = queryOf(c, row.query)
    const result = await SCIM_HANDLERS[name](db, caller, {
      ...{ id: c.req.param('id') ?? '', query },
      body: await bodyOf(c, row),
      request: {
        base: `${originOf(c, deps.publicOrigin)}${SCIM_PATH}`,
        ifMatch: c.req.header('if-match') ?? null,
      },
      deps: deps.parts,
    })
    if (result === null) return c.body(null, 204)
    return tell(c, row, result, query)
  }

  function refuse(c: Context<Env>, thrown: unknown): Response {
    if (thrown instanceof ScimError) {
      if (thrown.kind === 'unauthenticated') c.header('www-authenticate', 'Bearer')
      return failure(c, statusOfRefusal(thrown), thrown.scimType, thrown.message)
    }
    const requestId = c.get('requestId')
    const error = toCoreError(thrown, requestId)
    const status = statusOfRefusal(error)
    logRefusal(deps.log, error, { requestId, path: c.req.path })
    // RFC 7644 section 3.12 has no 422.
    return failure(
      c,
      status === 422 ? 400 : status,
      null,
      detailOf(error.detail),
      refusalHeaders(error),
    )
  }
  return routes
}

function tell(c: Context<Env>, row: ScimRow, result: object, query: ListQuery): Response {
  // The cast: every handler with an answer returns a resource or a list, and both have `schemas`.
  const resource = result as Parameters<typeof shaped>[0]
  const etag = etagOf(resource)
  if (etag !== '') c.header('etag', etag)
  const known = c.req.header('if-none-match')
  if (row.method === 'GET' && etag !== '' && known !== undefined && namesVersion(known, etag))
    return c.body(null, 304)
  if (row.status === 201) c.header('location', String(membersOf(resource['meta'])['location']))
  const isList = 'Resources' in resource
  const body = isList ? resource : shaped(resource, query.shape)
  return c.newResponse(JSON.stringify(body), row.status, { 'content-type': SCIM_MEDIA_TYPE })
}

const ALL = {
  ...{ attributes: null, excludedAttributes: null },
  ...{ filter: null, startIndex: 1, count: 100 },
}

function queryOf(c: Context<Env>, params: Params): ListQuery {
  const { values, entries } = parseParams(params, new URL(c.req.url).searchParams)
  if (entries.length > 0) throw new ScimError('bad_request', 'invalidValue', told(entries))
  const { attributes, excludedAttributes, ...list } = { ...ALL, ...values }
  return { ...list, shape: askedShape(attributes, excludedAttributes) }
}

async function bodyOf(c: Context<Env>, row: ScimRow): Promise<Record<string, unknown>> {
  if (row.body === null) return {}
  const bytes = await readBytes(c, INPUTS.core_body.maxBytes)
  const type = c.req.header('content-type') ?? ''
  const isJson = JSON_BODY.test(type)
  if (!isJson && bytes.length > 0)
    throw new ScimError('bad_request', 'invalidSyntax', wrongType(type))
  const parsed = parseBodyBytes(row.body, bytes, isJson, INPUTS.core_body.maxMarks)
  if (!parsed.ok) throw new ScimError('bad_request', 'invalidSyntax', told(parsed.entries))
  return membersOf(parsed.value)
}

const wrongType = (type: string): string =>
  `The content type is ${type === '' ? 'missing' : JSON.stringify(type.slice(0, 100))}; send application/scim+json`

/** Joins the first five problems. */
const told = (entries: readonly ValidationEntry[]): string =>
  entries
    .slice(0, 5)
    .map(({ loc, msg }) => `${placeAt(loc)}: ${msg}`)
    .join('; ')

const detailOf = (detail: CoreError['detail']): string =>
  typeof detail === 'string' ? detail : told(detail)

function failure(
  c: Context<Env>,
  status: RefusalStatus,
  scimType: ScimError['scimType'],
  detail: string,
  headers: Record<string, string> = {},
): Response {
  const type = scimType === null ? {} : { scimType }
  const body = { schemas: [SCIM_URNS.error], status: String(status), ...type, detail }
  return c.newResponse(JSON.stringify(body), status, {
    ...headers,
    'content-type': SCIM_MEDIA_TYPE,
  })
}
