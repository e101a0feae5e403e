/** Answers that many operations share: HTTP failures (read from ERRORS), headers, bearer tokens. */

import { ErrorResponse } from '../../contract/envelope/envelope-schemas.ts'
import { ERRORS } from '../../contract/errors/errors.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { envelopeStatus } from '../edge/statuses.ts'
import type { Components } from '../schemas/json-schema.ts'
import type { OpenApiDocument, OpenApiResponse, Operation } from './document.ts'

type Shared = Pick<OpenApiDocument['components'], 'responses' | 'headers' | 'securitySchemes'>

const REQUEST_ID = { 'x-request-id': { $ref: '#/components/headers/x-request-id' } }
const SERVED_BY = {
  'x-keyway-connector': { $ref: '#/components/headers/x-keyway-connector' },
  'x-keyway-generation': { $ref: '#/components/headers/x-keyway-generation' },
}

/** Rows of ERRORS by status, except those with status 200, which are returned in the envelope. */
const BY_STATUS = Map.groupBy(entriesOf(ERRORS), ([code]) => envelopeStatus(code))
const FAILURES = [...BY_STATUS].filter(([status]) => status !== 200)

/** Capabilities may be called without a token if the operator allows it. */
export const CONNECTOR_SECURITY: NonNullable<Operation['security']> = [{}, { connectorToken: [] }]
export const ADMIN_SECURITY: NonNullable<Operation['security']> = [{ adminToken: [] }]

/** Creates the parts of `components` that operations refer to, other than schemas. */
export function sharedComponents(components: Components): Shared {
  const schema = components.schema(ErrorResponse, 'output')
  const responses = FAILURES.map(([status, rows]): [string, OpenApiResponse] => [
    `Status${status}`,
    answer(rows.map(([, { meaning }]) => meaning).join('; '), schema),
  ])
  const bearer = { type: 'http', scheme: 'bearer' } as const
  return {
    responses: Object.fromEntries(responses),
    headers: {
      'x-request-id': {
        description: 'Names this answer in the log',
        schema: { type: 'string' },
      },
      'x-keyway-connector': {
        description: 'Which version answered, as id@version',
        schema: { type: 'string' },
      },
      'x-keyway-generation': {
        description: 'The generation that the host serves',
        schema: { type: 'integer' },
      },
    },
    securitySchemes: {
      connectorToken: { ...bearer, description: 'KEYWAY_CONNECTOR_TOKEN, where one is set' },
      apiToken: { ...bearer, description: 'An API token, `lsk_...`' },
      scimToken: { ...bearer, description: 'A token of an identity provider, `lss_...`' },
      adminToken: { ...bearer, description: 'An administrator’s token' },
    },
  }
}

/** Returns references to the failures with these statuses. */
export function failures(...statuses: number[]): Operation['responses'] {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Status${status}` }]),
  )
}

/** Creates a success with a JSON body. */
export function answer(description: string, schema: Record<string, unknown>): OpenApiResponse {
  return { description, headers: REQUEST_ID, content: { 'application/json': { schema } } }
}

/** Creates the response of a capability: a success or a handled error, distinguished by `is_error`. */
export function capabilityAnswer(schema: Record<string, unknown>): OpenApiResponse {
  return {
    description: 'Success or a handled error; `is_error` tells which',
    headers: { ...REQUEST_ID, ...SERVED_BY },
    content: { 'application/json': { schema } },
  }
}
