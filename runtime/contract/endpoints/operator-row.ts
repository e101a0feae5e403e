/** The row of an operator endpoint, and the function that makes one. */
import type { AnySchema } from '../schema/shape.ts'
import { byMethod, type EndpointMethod } from './methods.ts'
import type { Params } from './params.ts'

/** One operation below `/operator`. */
export type OperatorRow = {
  method: EndpointMethod
  /** Path below `/operator`, in Hono's form. */
  path: string
  summary: string
  query: Params
  body: AnySchema | null
  /** Whether the body is a package instead of JSON. */
  upload: boolean
  /**
   * Whether the list can be followed: a client that accepts `text/event-stream` receives it after every
   * change.
   */
  followed: boolean
  output: AnySchema
  status: 200 | 201
  /** Failure statuses other than 401, 403, 405, 421 and 503. */
  errors: readonly (404 | 409 | 413 | 415 | 422 | 429)[]
}

type Given = Pick<OperatorRow, 'summary' | 'output'> &
  Partial<Pick<OperatorRow, 'query' | 'body' | 'upload' | 'followed' | 'status' | 'errors'>>

/** Typed with all possible values, because the type of a row is intersected with this one. */
const USUAL: Pick<OperatorRow, 'upload' | 'followed' | 'status' | 'errors'> = {
  upload: false,
  followed: false,
  status: 200,
  errors: [],
}

/** Makes rows, by method. Members with a common default may be left out. */
export const row = byMethod((method) => <const G extends Given>(path: string, given: G) => ({
  // The cast holds: a row with its own query or body has that type instead.
  ...({ query: {}, body: null } as {
    query: G extends { query: infer Q extends Params } ? Q : Record<never, never>
    body: G extends { body: infer B extends AnySchema } ? B : null
  }),
  ...USUAL,
  ...given,
  ...{ method, path },
}))
