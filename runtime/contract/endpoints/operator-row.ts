/** The row of an operator's endpoint, and how one is written. */
import type { AnySchema } from '../schema/shape.ts'
import { byMethod, type EndpointMethod } from './methods.ts'
import type { Params } from './params.ts'

/** One operation below `/operator`. */
export type OperatorRow = {
  method: EndpointMethod
  /** Below `/operator`, in Hono's form. */
  path: string
  summary: string
  query: Params
  body: AnySchema | null
  /** A package instead of JSON. */
  upload: boolean
  /** A list that can be followed: who accepts `text/event-stream` is sent it whenever it has changed. */
  followed: boolean
  output: AnySchema
  status: 200 | 201
  /** Statuses of failures other than 401, 403, 405, 421 and 503. */
  errors: readonly (404 | 409 | 413 | 415 | 422 | 429)[]
}

type Given = Pick<OperatorRow, 'summary' | 'output'> &
  Partial<Pick<OperatorRow, 'query' | 'body' | 'upload' | 'followed' | 'status' | 'errors'>>

/** Of the whole type: what a row has of another value is intersected with these. */
const USUAL: Pick<OperatorRow, 'upload' | 'followed' | 'status' | 'errors'> = {
  upload: false,
  followed: false,
  status: 200,
  errors: [],
}

/** Makes rows by their method; what most rows share may be left out. */
export const row = byMethod((method) => <const G extends Given>(path: string, given: G) => ({
  // The cast: a row that is given one has it instead, and its type says so.
  ...({ query: {}, body: null } as {
    query: G extends { query: infer Q extends Params } ? Q : Record<never, never>
    body: G extends { body: infer B extends AnySchema } ? B : null
  }),
  ...USUAL,
  ...given,
  ...{ method, path },
}))
