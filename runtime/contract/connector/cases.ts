/**
 * The shape of connector.cases.json: what a connector asks of its system and what it answers, as data,
 * so that anyone can run a stranger's cases safely. Published as JSON Schema.
 */
import * as v from 'valibot'
import { ErrorCode } from '../errors/error-codes.ts'

const free = v.record(v.string(), v.unknown())

const headers = v.record(v.string(), v.string())
const status = v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599))

const asked = {
  /** `GET /v1/users?limit=2`: the path with the base path, the query in any order. */
  request: v.pipe(v.string(), v.regex(/^[A-Z]+ \/\S*$/, 'must look like `GET /v1/users?limit=2`')),
  /** Request headers that must be there, by name. */
  headers: v.optional(headers),
  /** The body that must be sent: JSON compared by value, or text. */
  body: v.optional(v.unknown()),
}

const answered = {
  headers: v.optional(headers, {}),
  /** JSON, or text when it is a string. */
  body: v.optional(v.unknown()),
}

/** One exchange with the third-party system, in the order in which it is expected. */
export const Exchange = v.strictObject({
  ...asked,
  reply: v.strictObject({ status, ...answered }),
})
export type Exchange = v.InferOutput<typeof Exchange>

/** The same as it may be written: the defaults of its file may say the status. */
const WrittenExchange = v.strictObject({
  ...asked,
  reply: v.strictObject({ status: v.optional(status), ...answered }),
})

const ExpectedError = v.strictObject({
  error_code: ErrorCode,
  status_code: v.optional(v.number()),
  app_error_code: v.optional(v.string()),
  raised_by: v.optional(v.string()),
  /** A part of the message. */
  message: v.optional(v.string()),
})

/** What one call is expected to do, with exchanges of a form. */
const expectationWith = <E extends v.GenericSchema>(exchange: E) => ({
  upstream: v.optional(v.array(exchange), []),
  response: v.optional(v.unknown()),
  error: v.optional(ExpectedError),
  /** Whether a token for a further page is expected; not checked when absent. */
  more: v.optional(v.boolean()),
  raw_data: v.optional(v.unknown()),
})

const page = v.strictObject({ size: v.optional(v.number()) })

/** The inputs of a call, set by a case or by the defaults of all cases. */
const calledWith = {
  auth: v.optional(v.unknown()),
  credentials: v.optional(v.unknown()),
  settings: v.optional(free),
  page: v.optional(page),
  include_raw_data: v.optional(v.boolean()),
}

/** A case, with exchanges of a form. */
const caseWith = <E extends v.GenericSchema>(exchange: E) =>
  v.strictObject({
    name: v.pipe(v.string(), v.minLength(1)),
    capability: v.string(),
    request: v.optional(free, {}),
    ...calledWith,
    ...expectationWith(exchange),
    /** Several pages of one sequence, instead of `upstream` and `response`. */
    pages: v.optional(v.pipe(v.array(v.strictObject(expectationWith(exchange))), v.minLength(1))),
  })

/** A case as it runs: with everything that its file says once for all. */
export const Case = caseWith(Exchange)
export type Case = v.InferOutput<typeof Case>

/** What a case has where it says nothing itself. */
export const CaseDefaults = v.strictObject({
  ...calledWith,
  upstream: v.optional(
    v.strictObject({
      headers: v.optional(headers),
      reply: v.optional(
        v.strictObject({ status: v.optional(status), headers: v.optional(headers) }),
      ),
    }),
  ),
})
export type CaseDefaults = v.InferOutput<typeof CaseDefaults>

/** What stands in connector.cases.json beside its cases. */
export const CaseFileHead = {
  $schema: v.optional(v.string()),
  defaults: v.optional(CaseDefaults, {}),
  /** Exchanges that several cases have, by a name that stands in their `upstream`. */
  exchanges: v.optional(v.record(v.string(), WrittenExchange), {}),
}

const Written = v.array(
  v.strictObject({
    ...caseWith(v.union([v.string(), WrittenExchange])).entries,
    // None, where the file has a default.
    settings: v.nullish(free),
    page: v.nullish(page),
    include_raw_data: v.nullish(v.boolean()),
  }),
)

/** connector.cases.json as it is written: with what cases share, or a list of cases alone. */
export const CaseFile = v.union([v.strictObject({ ...CaseFileHead, cases: Written }), Written])

/** One call of a case. */
export type Step = Pick<Case, 'upstream' | 'response' | 'error' | 'more' | 'raw_data'>
