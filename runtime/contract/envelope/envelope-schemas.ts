/**
 * The envelopes around every payload. Request bodies are parsed with them, responses are written in their
 * form, and the API documents are generated from them.
 *
 * Source: service.md sections 2.1, 2.2, 2.3, 7.1; connector-interface.md section 1.1.
 */
import * as v from 'valibot'
import { AuthCredential } from '../connector/authentication.ts'
import { ErrorCode } from '../errors/error-codes.ts'
import {
  anyObject,
  described,
  freeObject,
  maybe,
  nullable,
  object,
  strictObject,
} from '../schema/schemas.ts'
import type { AnySchema } from '../schema/shape.ts'

/** A schema that accepts anything, for a place whose JSON Schema is already known. */
export const literalSchema = (jsonSchema: Record<string, unknown>) =>
  v.pipe(
    v.custom<unknown>(() => true),
    v.metadata({ jsonSchema }),
  )

/** Most items of a page. */
export const MAX_PAGE_SIZE = 1000

/** Position in a listing (service.md section 2.3). */
const Page = object('Page', {
  token: maybe(described(v.string(), 'Opaque; from the previous response')),
  size: maybe(
    described(
      v.pipe(v.number(), v.integer()),
      `Items per page, 1 to ${MAX_PAGE_SIZE}; must not change within a sequence`,
    ),
  ),
})

const rawData = described(
  v.unknown(),
  'Raw response of the third-party system; null unless include_raw_data is true',
)

/** Members of an envelope in addition to `request`. */
export type EnvelopeParts = {
  /** Name of the OpenAPI component. */
  title: string
  request: AnySchema
  settings?: AnySchema
  /** Members `auth` and `credentials`; absent in a plain envelope. */
  credentials?: v.ObjectEntries
}

/** `auth` and `credentials` of an envelope that is not specific to one connector. */
export const anyCredentials = {
  auth: described(maybe(AuthCredential), 'Exactly one of auth and credentials'),
  credentials: maybe(described(v.array(AuthCredential), 'One credential for each declared id')),
}

/** Members of every envelope other than `request` and the credentials. */
export const commonMembers = {
  settings: maybe(
    described(anyObject(), 'Settings as described by the connector’s request_settings_schema'),
  ),
  page: maybe(Page),
  include_raw_data: maybe(described(v.boolean(), 'Whether the response contains raw_data')),
}

/** Returns the request envelope; without `credentials`, the plain one, which carries none. */
export function requestEnvelope({ title, request, settings, credentials = {} }: EnvelopeParts) {
  return object(title, {
    ...credentials,
    request,
    ...commonMembers,
    ...(settings ? { settings } : {}),
  })
}

/** Position of the next page; null members on the last page. */
const ResponsePage = strictObject('ResponsePage', 'Position of the next page', {
  token: nullable(described(v.string(), 'Opaque; send it back to get the next page')),
  size: nullable(v.pipe(v.number(), v.integer())),
})

/** Returns the success envelope around a response. */
export function successEnvelope(title: string, response: AnySchema) {
  return strictObject(title, {
    response,
    raw_data: nullable(rawData),
    page: nullable(ResponsePage),
  })
}

const ErrorObject = strictObject('Error', 'Description of the error', {
  message: described(v.string(), 'Message for people'),
  error_code: ErrorCode,
  app_id: described(v.string(), 'Id of the connector that was called'),
  status_code: nullable(
    described(v.pipe(v.number(), v.integer()), 'HTTP status of the third-party system'),
  ),
  app_error_code: nullable(described(v.string(), 'The third-party system’s own code')),
  raised_by: nullable(described(v.string(), 'Component that raised the error')),
  raised_in: nullable(described(v.string(), 'Place where the error was raised')),
})

/** The error envelope. It is the same for every failure. */
export const ErrorResponse = strictObject(
  'ErrorResponse',
  'A failure; HTTP 200 if it was handled',
  {
    is_error: v.literal(true),
    error: ErrorObject,
    raw_data: nullable(freeObject()),
    page: nullable(ResponsePage),
  },
)
export type ErrorResponse = v.InferOutput<typeof ErrorResponse>
