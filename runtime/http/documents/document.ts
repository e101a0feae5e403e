/** Types of the parts of an OpenAPI 3.1 document that are used here. */
import type { Steps } from '../../bounded/slices.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { JsonSchema } from '../schemas/tidy.ts'

type Content = Record<string, { schema: JsonSchema; example?: unknown }>

export type OpenApiResponse = {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Content
}

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
}

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  'x-capability-level'?: 'read' | 'write'
  'x-capability-category'?: 'authorization'
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, OpenApiResponse | { $ref: string }>
  security?: Record<string, string[]>[]
}

export type PathMethod = 'get' | 'post' | 'put' | 'patch' | 'delete'
const METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const

export type PathItem = { [M in PathMethod]?: Operation }

type Row = { method: keyof typeof METHODS; path: string }

/** Yields the paths of a table of endpoints below a prefix, one endpoint per step. */
export function* pathSteps<R extends Row>(
  table: Readonly<Record<string, R>>,
  prefix: string,
  operation: (name: string, row: R) => Operation,
): Steps<Record<string, PathItem>> {
  const paths: Record<string, PathItem> = {}
  for (const [name, row] of Object.entries(table)) {
    const path = prefix + row.path.replace(/:([a-z_]+)/g, '{$1}')
    paths[path] = { ...paths[path], [METHODS[row.method]]: operation(name, row) }
    yield
  }
  return paths
}

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description?: string }
  servers?: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, PathItem>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, OpenApiResponse>
    headers: Record<string, { description: string; schema: JsonSchema }>
    securitySchemes: Record<string, { type: 'http'; scheme: 'bearer'; description: string }>
  }
}

/** Returns every operation of a document with its path and method, in the document's order. */
export function operationsOf(document: OpenApiDocument) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    entriesOf<PathItem>(item).flatMap(([method, operation]) =>
      operation === undefined ? [] : [{ path, method, operation }],
    ),
  )
}
