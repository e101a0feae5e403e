/** The operator's endpoints in the OpenAPI document, read from their table. */

import { atOnce } from '../../bounded/slices.ts'
import { SIGNATURE_HEADER } from '../../connectors/packages/sign.ts'
import { OPERATOR_ENDPOINTS, type OperatorRow } from '../../contract/endpoints/operator.ts'
import type { Components } from '../schemas/json-schema.ts'
import { pathParameters, queryParameters } from './core.ts'
import {
  type OpenApiResponse,
  type Operation,
  type Parameter,
  type PathItem,
  pathSteps,
} from './document.ts'
import { TAGS } from './operations.ts'
import { ADMIN_SECURITY, answer, failures } from './responses.ts'

/** Statuses of failures that every operation below /operator may return. */
const COMMON = [401, 403, 405, 421, 503]

const signature: Parameter = {
  name: SIGNATURE_HEADER,
  in: 'header',
  required: false,
  description: 'The .sig file written by keyway sign, in base64',
  schema: { type: 'string' },
}

/** Creates the paths of the table. */
export const lifecyclePaths = (components: Components): Record<string, PathItem> =>
  atOnce(
    pathSteps<OperatorRow>(OPERATOR_ENDPOINTS, '/operator', (name, row) =>
      operation(name, row, components),
    ),
  )

function operation(name: string, row: OperatorRow, components: Components): Operation {
  const { path, query, body, upload, followed, output, status, errors } = row
  const done = answer('Done', components.schema(output, 'output'))
  const content: Record<string, { schema: Record<string, unknown> }> | null = upload
    ? { 'application/gzip': { schema: { type: 'string', format: 'binary' } } }
    : body
      ? { 'application/json': { schema: components.schema(body, 'input') } }
      : null
  return {
    operationId: name,
    tags: [TAGS.Operating.name],
    summary: row.summary,
    parameters: [
      ...pathParameters(path),
      ...queryParameters(query),
      ...(upload ? [signature] : []),
    ],
    ...(content ? { requestBody: { required: true, content } } : {}),
    responses: {
      [status]: followed ? asEvents(done) : done,
      ...failures(...[...COMMON, ...errors].sort()),
    },
    security: ADMIN_SECURITY,
  }
}

/**
 * Adds the form for `accept: text/event-stream`: the same list as an event, and again whenever it has
 * changed.
 */
const asEvents = (response: OpenApiResponse): OpenApiResponse => ({
  ...response,
  description: 'Done; as events: the list now, and again after each change',
  content: { ...response.content, 'text/event-stream': { schema: { type: 'string' } } },
})
