/**
 * The shape of connector.cases.json: the requests that a connector sends to its system and the results that
 * it returns, as data, so that cases from a stranger are safe to run. Published as JSON Schema.
 */
import * as v from 'valibot'
import { ErrorCode } from '../errors/error-codes.ts'

const free = v.record(v.string(), v.unknown())

const headers = v.record(v.string(), v.string())
const status = v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599))

const asked = {
  /**
   * Method and path, as in `GET /v1/users?limit=2`. The path includes the base path; the order of the query
   * does not matter.
   */
  request: v.pipe(v.string(), v.regex(/^[A-Z]+ \/\S*$/, 'must look like `GET /v1/users?limit=2`')),
  /** Required request headers, by name. */
  headers: v.optional(headers),
  /** Required body: JSON compared by value, or text. */
  body: v.optional(v.unknown()),
}

const answered = {
  headers: v.optional(headers, {}),
  /** JSON, or text if it is a string. */
  body: v.optional(v.unknown()),
}

/** One exchange with the third-party system, listed in the expected order. */
export const Exchange = v.strictObject({
  ...asked,
  reply: v.strictObject({ status, ...answered }),
})
export type Exchange = v.InferOutput<typeof Exchange>

/** An exchange as written in the file, where the status may come from the file's defaults. */
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

/** Returns the members for the expected outcome of one call. */
const expectationWith = <E extends v.GenericSchema>(exchange: E) => ({
  upstream: v.optional(v.array(exchange), []),
  response: v.optional(v.unknown()),
  error: v.optional(ExpectedError),
  /** Whether a token for another page is expected; not checked if absent. */
  more: v.optional(v.boolean()),
  raw_data: v.optional(v.unknown()),
})

const page = v.strictObject({ size: v.optional(v.number()) })

/** Inputs of a call, set by a case or by the defaults of the file. */
const calledWith = {
  auth: v.optional(v.unknown()),
  credentials: v.optional(v.unknown()),
  settings: v.optional(free),
  page: v.optional(page),
  include_raw_data: v.optional(v.boolean()),
}

/** Returns the schema of a case. */
const caseWith = <E extends v.GenericSchema>(exchange: E) =>
  v.strictObject({
    name: v.pipe(v.string(), v.minLength(1)),
    capability: v.string(),
    request: v.optional(free, {}),
    ...calledWith,
    ...expectationWith(exchange),
    /** Pages of one listing, in place of `upstream` and `response`. */
    pages: v.optional(v.pipe(v.array(v.strictObject(expectationWith(exchange))), v.minLength(1))),
  })

/** A case as it runs: defaults and shared exchanges of its file are filled in. */
export const Case = caseWith(Exchange)
export type Case = v.InferOutput<typeof Case>

/** Values for members that a case leaves out. */
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

/** Members of connector.cases.json other than its cases. */
export const CaseFileHead = {
  $schema: v.optional(v.string()),
  defaults: v.optional(CaseDefaults, {}),
  /** Exchanges shared by several cases, by the name that their `upstream` uses. */
  exchanges: v.optional(v.record(v.string(), WrittenExchange), {}),
}

const Written = v.array(
  v.strictObject({
    ...caseWith(v.union([v.string(), WrittenExchange])).entries,
    // Null overrides a default of the file with no value.
    settings: v.nullish(free),
    page: v.nullish(page),
    include_raw_data: v.nullish(v.boolean()),
  }),
)

/** connector.cases.json as written: with its shared parts, or a list of cases alone. */
export const CaseFile = v.union([v.strictObject({ ...CaseFileHead, cases: Written }), Written])

/** One call of a case. */
export type Step = Pick<Case, 'upstream' | 'response' | 'error' | 'more' | 'raw_data'>
