/** The core interface in the OpenAPI document, read from its table of endpoints. */
import * as v from 'valibot'
import type { Steps } from '../../bounded/slices.ts'
import { csvColumns, listForm } from '../../contract/endpoints/csv-columns.ts'
import type { Endpoint, FailureStatus } from '../../contract/endpoints/endpoint.ts'
import type { Params } from '../../contract/endpoints/params.ts'
import { ENDPOINTS } from '../../contract/endpoints/table.ts'
import { described, object } from '../../contract/schema/schemas.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import type { Components } from '../schemas/json-schema.ts'
import type { JsonSchema } from '../schemas/tidy.ts'
import {
  type OpenApiResponse,
  type Operation,
  type Parameter,
  type PathItem,
  pathSteps,
} from './document.ts'
import { answer } from './responses.ts'

/** Tags of the core interface, in the order of its table. */
export const CORE_TAGS = [
  { name: 'Users', description: 'People, their roles' },
  { name: 'Apps', description: 'Apps that people have accounts in' },
  { name: 'Accounts', description: 'Accounts of people in apps' },
  { name: 'Integrations', description: 'Systems that apps can be connected to' },
  { name: 'AppStore', description: 'Apps that can be requested, and how' },
  { name: 'Permissions', description: 'What can be requested within an app' },
  { name: 'PreApproval', description: 'Requests that need no approval' },
  { name: 'AccessRequests', description: 'Requesting access, and the state of requests' },
  { name: 'AccessPolicies', description: 'Access given to people by their attributes' },
  { name: 'AccessReviews', description: 'Reviews of the access that people have' },
  { name: 'Findings', description: 'Problems with existing access, and what to do' },
  { name: 'SeparationOfDuties', description: 'Access that no one may hold together' },
  { name: 'BreakGlass', description: 'Access given at once and reviewed afterwards' },
  { name: 'Cost', description: 'What apps cost, and licences with their seats' },
  { name: 'Lifecycle management', description: 'Removing all access of users who leave' },
  { name: 'Webhooks', description: 'Calls to your own systems' },
  { name: 'Groups', description: 'Groups of people' },
  { name: 'SCIM tokens', description: 'Tokens of identity providers that push people' },
  { name: 'Logs', description: 'What was done, and who did it' },
  { name: 'Meta', description: 'What this is' },
  {
    name: 'Delegations',
    description: 'Delegates: people who decide for another person for a limited time',
  },
  { name: 'Tasks', description: 'Decisions and work for people' },
] as const

/** Body of most failures of the core. */
export const Detail = object('HTTPError', 'What went wrong', { detail: v.string() })

/** Body of a 422. */
const ValidationError = object('HTTPValidationError', 'The errors, one for each faulty entry', {
  detail: v.array(
    object('ValidationErrorEntry', {
      loc: described(v.array(v.union([v.string(), v.number()])), 'Where the problem is'),
      msg: v.string(),
      type: v.string(),
    }),
  ),
})

/** Failures that every endpoint may return. */
export const FAILURES = {
  400: ['The request is not possible as sent', Detail],
  401: ['The token is missing, unknown, revoked or expired', Detail],
  403: ['The token’s user lacks the permission', Detail],
  404: ['The resource does not exist in this domain', Detail],
  409: ['The state of the resource does not allow it', Detail],
  422: ['The request is invalid', ValidationError],
  429: ['Too many requests; see Retry-After', Detail],
  503: ['The database is unavailable; see Retry-After', Detail],
} as const

/** Failures of some endpoints: those with a body, or whose row lists them. */
export const RARE_FAILURES: Partial<Record<FailureStatus, string>> = {
  413: 'The body is larger than 1 MiB',
  501: 'The integration cannot do this',
  502: 'The connected system failed or could not be reached; nothing was changed',
}

/** Yields the paths of the core interface, one endpoint per step. */
export const coreSteps = (components: Components): Steps<Record<string, PathItem>> =>
  pathSteps<Endpoint>(ENDPOINTS, '', (name, row) => operation(name, row, components))

function operation(name: string, row: Endpoint, components: Components): Operation {
  const { body } = row
  const schema = body && components.schema(body, 'input')
  return {
    operationId: name,
    tags: [row.tag],
    summary: row.summary,
    ...(row.who === 'caller' || row.who === 'anybody'
      ? {}
      : { description: `Needs the permission \`${row.who}\`.` }),
    parameters: [...pathParameters(row.path), ...queryParameters(row.query)],
    ...(schema
      ? { requestBody: { required: true, content: { 'application/json': { schema } } } }
      : {}),
    responses: { [row.status]: success(row, components), ...failures(row, components) },
    security: row.who === 'anybody' ? [] : [{ apiToken: [] }],
  }
}

function success(row: Endpoint, components: Components): OpenApiResponse {
  if (row.output === null) return { description: 'Done' }
  const schema = components.schema(row.output, 'output')
  const list = listForm(row)
  const csv = list === null ? {} : csvContent(list.item)
  const asCsv = (whole: OpenApiResponse): OpenApiResponse => ({
    ...whole,
    content: { ...whole.content, ...csv },
  })
  if (row.answer === 'json') return asCsv(answer('The answer', schema))
  if (row.answer === 'text')
    return { description: 'The answer', content: { 'text/plain': { schema } } }
  if (row.answer === 'file')
    return { description: 'The file', content: { 'application/x-ndjson': { schema } } }
  if (row.answer === 'limit-offset')
    return asCsv(answer('A part of the list; as CSV the whole list', limitOffset(schema)))
  const whole = { type: 'integer', minimum: 0 }
  const page = answer('One page; as CSV the whole list, whatever page and size say', {
    type: 'object',
    properties: {
      items: { type: 'array', items: schema },
      total: whole,
      page: whole,
      size: whole,
      pages: whole,
    },
    required: ['items', 'total', 'page', 'size', 'pages'],
  })
  return asCsv(page)
}

const csvContent = (item: AnySchema) => ({
  'text/csv': {
    schema: { type: 'string', description: `Columns: ${csvColumns(item).join(', ')}` } as const,
  },
})

function limitOffset(schema: JsonSchema): JsonSchema {
  const whole = { type: 'integer', minimum: 0 }
  const link = { type: ['string', 'null'] }
  const names = ['first', 'last', 'self', 'next', 'prev']
  return {
    type: 'object',
    properties: {
      items: { type: 'array', items: schema },
      total: whole,
      limit: whole,
      offset: whole,
      links: {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, link])),
        required: names,
      },
    },
    required: ['items', 'total', 'limit', 'offset', 'links'],
  }
}

function failures(row: Endpoint, components: Components): Operation['responses'] {
  const common = Object.entries(FAILURES).map(([status, [meaning, schema]]) => [
    status,
    answer(meaning, components.schema(schema, 'output')),
  ])
  const own = [...(row.body === null ? [] : [413 as const]), ...row.errors].map((status) => [
    status,
    answer(RARE_FAILURES[status] ?? '', components.schema(Detail, 'output')),
  ])
  return Object.fromEntries([...common, ...own])
}

/** Returns the parameters of a path in Hono's form. */
export const pathParameters = (path: string): Parameter[] =>
  [...path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: `The ${name.replaceAll('_', ' ')}`,
    schema: { type: 'string' },
  }))

/** Returns query parameters in their OpenAPI form. */
export const queryParameters = (query: Params): Parameter[] =>
  Object.entries(query).map(([name, { required, description, jsonSchema }]) => ({
    name,
    in: 'query',
    required,
    description: description === '' ? name.replaceAll('_', ' ') : description,
    schema: jsonSchema,
  }))
