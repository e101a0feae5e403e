/**
 * The shape of connector.cases.json: what a connector asks of its system and what it answers, as data,
 * so that anyone can run a stranger's cases safely. Published as JSON Schema.
 */
import * as v from 'valibot'
import { ErrorCode } from './error-codes.ts'

const free = v.record(v.string(), v.unknown())

/** One exchange with the third-party system, in the order in which it is expected. */
export const Exchange = v.strictObject({
  /** `GET /v1/users?limit=2`: the path with the base path, the query in any order. */
  request: v.pipe(v.string(), v.regex(/^[A-Z]+ \/\S*$/, 'must look like `GET /v1/users?limit=2`')),
  /** Request headers that must be there, by name. */
  headers: v.optional(v.record(v.string(), v.string())),
  /** The body that must be sent: JSON compared by value, or text. */
  body: v.optional(v.unknown()),
  reply: v.strictObject({
    status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
    headers: v.optional(v.record(v.string(), v.string()), {}),
    /** JSON, or text when it is a string. */
    body: v.optional(v.unknown()),
  }),
})
export type Exchange = v.InferOutput<typeof Exchange>

const ExpectedError = v.strictObject({
  error_code: ErrorCode,
  status_code: v.optional(v.number()),
  app_error_code: v.optional(v.string()),
  raised_by: v.optional(v.string()),
  /** A part of the message. */
  message: v.optional(v.string()),
})

const exchanges = v.optional(v.array(Exchange), [])

/** What one call is expected to do. */
const expectation = {
  upstream: exchanges,
  response: v.optional(v.unknown()),
  error: v.optional(ExpectedError),
  /** Whether a token for a further page is expected; not checked when absent. */
  more: v.optional(v.boolean()),
  raw_data: v.optional(v.unknown()),
}

export const Case = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1)),
  capability: v.string(),
  request: v.optional(free, {}),
  auth: v.optional(v.unknown()),
  credentials: v.optional(v.unknown()),
  settings: v.optional(free),
  page: v.optional(v.strictObject({ size: v.optional(v.number()) })),
  include_raw_data: v.optional(v.boolean()),
  ...expectation,
  /** Several pages of one sequence, instead of `upstream` and `response`. */
  pages: v.optional(v.pipe(v.array(v.strictObject(expectation)), v.minLength(1))),
})
export type Case = v.InferOutput<typeof Case>

export const Cases = v.array(Case)

/** One call of a case. */
export type Step = Pick<Case, 'upstream' | 'response' | 'error' | 'more' | 'raw_data'>
