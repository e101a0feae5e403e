/** `/scim/v2` in the OpenAPI document, read from its table. */
import type { Steps } from '../../bounded/slices.ts'
import { SCIM_ENDPOINTS, SCIM_PATH, type ScimRow } from '../../contract/endpoints/scim.ts'
import { ScimErrorBody } from '../../contract/models/scim.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import type { Components } from '../schemas/json-schema.ts'
import { pathParameters, queryParameters } from './core.ts'
import { type OpenApiResponse, type Operation, type PathItem, pathSteps } from './document.ts'
import { answer } from './responses.ts'

export const SCIM_TAG = {
  name: 'SCIM',
  description: 'People and groups that an identity provider pushes (RFC 7644)',
} as const

/** Failures that every operation may return, and those of some. */
const SCIM_FAILURES = {
  400: 'The request is invalid; `scimType` says how',
  401: 'The token is missing, unknown, revoked or expired',
  403: 'A filter on a list that cannot be filtered',
  404: 'There is no such resource',
  409: 'The state does not allow it, such as a userName that another user has (`uniqueness`)',
  412: 'The resource does not match If-Match',
  413: 'The body is larger than 1 MiB',
  429: 'Too many requests; see Retry-After',
  503: 'The database is unavailable; see Retry-After',
} as const
const ALWAYS = [400, 401, 429, 503] as const

export const scimSteps = (components: Components): Steps<Record<string, PathItem>> =>
  pathSteps<ScimRow>(SCIM_ENDPOINTS, SCIM_PATH, (name, row) => operation(name, row, components))

function operation(name: string, row: ScimRow, components: Components): Operation {
  const { body, output, status, errors } = row
  const schema = body && components.schema(body, 'input')
  const failed = [...ALWAYS, ...errors].map((one) => [
    String(one),
    scim(SCIM_FAILURES[one], components, ScimErrorBody),
  ])
  const nothing: OpenApiResponse = { description: 'Done' }
  return {
    operationId: name,
    tags: [SCIM_TAG.name],
    summary: row.summary,
    parameters: [...pathParameters(row.path), ...queryParameters(row.query)],
    ...(schema ? { requestBody: { required: true, content: bodies(schema) } } : {}),
    responses: {
      [status]: output === null ? nothing : scim('The answer', components, output),
      ...(name === 'scim_patch_group' ? { 204: nothing } : {}),
      ...Object.fromEntries(failed),
    },
    security: [{ scimToken: [] }],
  }
}

const bodies = (schema: Record<string, unknown>) => ({
  'application/scim+json': { schema },
  'application/json': { schema },
})

function scim(description: string, components: Components, schema: AnySchema): OpenApiResponse {
  const body = components.schema(schema, 'output')
  return { ...answer(description, body), content: bodies(body) }
}
