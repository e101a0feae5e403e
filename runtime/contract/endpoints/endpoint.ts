/**
 * The row of a core endpoint, from which the route, validation, 422 bodies, OpenAPI and documentation are
 * derived.
 */
import type * as v from 'valibot'
import type { Permission } from '../models/roles.ts'
import type { UploadKind } from '../models/upload.ts'
import type { AnySchema } from '../schema/shape.ts'
import { byMethod, type EndpointMethod } from './methods.ts'
import { type Params, type ParamValues, pageParams } from './params.ts'

/** Statuses of failures of the core interface. */
export type FailureStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 501 | 502 | 503

type EndpointRow = {
  method: EndpointMethod
  /** In Hono's form: `/tasks/:task_id/actions`. Ids are opaque; a malformed one results in 404. */
  path: string
  summary: string
  tag: string
  /**
   * Required permission, or `caller` for any valid token (the handler limits it to the caller's own objects),
   * or `anybody` for no token at all.
   */
  who: Permission | 'caller' | 'anybody'
  query: Params
  body: AnySchema | null
  /** Maximum size of the body, in bytes; null for the default. */
  maxBytes: number | null
  /**
   * Kind of an upload; null for other endpoints. An upload has too many rows to be parsed on the main thread.
   */
  upload: UploadKind | null
  /**
   * Content of the response: one value, plain text, a page of `{ items, total, page, size, pages }`, a file
   * of JSON lines that is sent while it is made, or nothing.
   */
  answer: 'json' | 'text' | 'page' | 'limit-offset' | 'file' | 'empty'
  output: AnySchema | null
  status: 200 | 201 | 202 | 204
  /** Statuses of failures specific to this endpoint, in addition to those of every endpoint. */
  errors: readonly FailureStatus[]
}

/** A row whose query and body are typed for its handler. */
export type Endpoint<
  Q extends Params = Params,
  B extends AnySchema | null = AnySchema | null,
> = Omit<EndpointRow, 'query' | 'body'> & { query: Q; body: B }

type Given<Q extends Params, B extends AnySchema | null> = Pick<EndpointRow, 'summary' | 'who'> &
  Partial<Pick<EndpointRow, 'maxBytes' | 'upload' | 'answer' | 'output' | 'status' | 'errors'>> & {
    query?: Q
    body?: B
  }

/**
 * Returns functions that make rows with this tag: one for each method, and `page` for a list in pages, which
 * adds its parameters. Members with a common default may be left out.
 */
export const endpoint = (tag: string) => {
  const make =
    (method: EndpointMethod) =>
    <const Q extends Params = Record<never, never>, const B extends AnySchema | null = null>(
      path: string,
      given: Given<Q, B>,
    ): Endpoint<Q, B> => {
      const { query, body, output = null, status } = given
      const { answer = output ? 'json' : 'empty' } = given
      return {
        ...given,
        ...{ method, path, tag },
        // The cast holds: absent members get the defaults of the two types.
        ...({ query: query ?? {}, body: body ?? null } as { query: Q; body: B }),
        maxBytes: given.maxBytes ?? null,
        upload: given.upload ?? null,
        answer,
        output,
        status: status ?? (answer === 'empty' ? 204 : 200),
        errors: given.errors ?? [],
      }
    }
  return {
    ...byMethod(make),
    page: <const Q extends Params = Record<never, never>>(
      path: string,
      given: Given<Q, null>,
    ): Endpoint<Q & typeof pageParams, null> => {
      const row = make('GET')(path, { ...given, answer: 'page' })
      return { ...row, query: { ...row.query, ...pageParams } }
    },
  }
}

/** Parsed input of an endpoint's handler. */
export type EndpointInput<E extends Endpoint> = {
  /** First id of the path; empty if it has none. */
  id: string
  params: Record<string, string>
  query: E extends Endpoint<infer Q, AnySchema | null> ? ParamValues<Q> : never
  body: E extends Endpoint<Params, infer B>
    ? B extends AnySchema
      ? v.InferOutput<B>
      : null
    : never
}
