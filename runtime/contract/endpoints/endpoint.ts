/** The row of a core endpoint: from it are read the route, validation, 422 bodies, OpenAPI and docs. */
import type * as v from 'valibot'
import type { Permission } from '../models/roles.ts'
import type { UploadKind } from '../models/upload.ts'
import type { AnySchema } from '../schema/shape.ts'
import { byMethod, type EndpointMethod } from './methods.ts'
import type { Params, ParamValues } from './params.ts'

/** Statuses of failures that the core interface answers with. */
export type FailureStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 501 | 502 | 503

type EndpointRow = {
  method: EndpointMethod
  /** Hono's form: `/tasks/:task_id/actions`. Ids are opaque; a malformed one is a 404 matter. */
  path: string
  summary: string
  tag: string
  /**
   * Who may: a permission, or `caller` for every valid token (the handler narrows to what is theirs),
   * or `anybody` for no token at all.
   */
  who: Permission | 'caller' | 'anybody'
  query: Params
  body: AnySchema | null
  /** Largest body, in bytes, where it is not the usual. */
  maxBytes: number | null
  /** Of an upload, whose rows are too many to be parsed while others wait: what kind it is. */
  upload: UploadKind | null
  /**
   * What the answer holds: one value, plain text, a page of `{ items, total, page, size, pages }`, a file of JSON lines
   * that is sent while it is made, or nothing.
   */
  answer: 'json' | 'text' | 'page' | 'limit-offset' | 'file' | 'empty'
  output: AnySchema | null
  status: 200 | 201 | 202 | 204
  /** Statuses of failures that are this endpoint's own, in addition to those that every endpoint may answer. */
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

/** Makes rows under a tag, by their method; what most rows share may be left out. */
export const endpoint = (tag: string) =>
  byMethod(
    (method) =>
      <const Q extends Params = Record<never, never>, const B extends AnySchema | null = null>(
        path: string,
        given: Given<Q, B>,
      ): Endpoint<Q, B> => {
        const { query, body, output = null, status } = given
        const { answer = output ? 'json' : 'empty' } = given
        return {
          ...given,
          ...{ method, path, tag },
          // The cast: who leaves them out has the defaults of the two types.
          ...({ query: query ?? {}, body: body ?? null } as { query: Q; body: B }),
          maxBytes: given.maxBytes ?? null,
          upload: given.upload ?? null,
          answer,
          output,
          status: status ?? (answer === 'empty' ? 204 : 200),
          errors: given.errors ?? [],
        }
      },
  )

/** What a handler of an endpoint gets, parsed. */
export type EndpointInput<E extends Endpoint> = {
  /** The first id of the path; empty where it has none. */
  id: string
  params: Record<string, string>
  query: E extends Endpoint<infer Q, AnySchema | null> ? ParamValues<Q> : never
  body: E extends Endpoint<Params, infer B>
    ? B extends AnySchema
      ? v.InferOutput<B>
      : null
    : never
}
