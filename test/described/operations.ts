/**
 * The operations of an API description, OpenAPI 3.0 or Swagger 2: which one a request belongs to, and
 * whether the request and its answer match it.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

type Json = { [member: string]: unknown }
type Parameter = { name: string; in: string; required?: boolean; schema?: Json } & Json

/** A request and its answer, as recorded. */
export type Exchange = {
  method: string
  /** Path and query. */
  target: string
  /** The JSON that was sent, undefined when there was none. */
  sent: unknown
  status: number
  /** The JSON that was answered, undefined when there was none. */
  answered: unknown
}

export type Judged = { operation: string; findings: string[] }

/** Lists where an exchange violates its description. */
export type Judge = (exchange: Exchange) => Judged

type Operation = {
  name: string
  method: string
  pattern: RegExp
  /** JSON pointer into the description. */
  pointer: string
  parameters: { parameter: Parameter; pointer: string }[]
  described: Json
}

const NAME = 'description.json'

/** Creates the function that checks exchanges against a description. */
export function createJudge(description: object): Judge {
  const document = withNull(description) as Json
  const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, NAME)
  const operations = operationsOf(document)
  const compiled = new Map<string, ValidateFunction>()

  const wrongIn = (what: string, value: unknown, pointer: string): string[] => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `${NAME}#${pointer}` })
    compiled.set(pointer, known)
    if (known(value)) return []
    const told = (known.errors ?? []).map(
      ({ instancePath, message }) => `${what}${instancePath} ${message}`,
    )
    return [...new Set(told)]
  }

  return ({ method, target, sent, status, answered }) => {
    const { pathname, searchParams } = new URL(target, 'http://description')
    const found = operations.find((one) => one.method === method && one.pattern.test(pathname))
    if (!found)
      return { operation: `${method} ${pathname}`, findings: ['is none of the description'] }
    return {
      operation: found.name,
      findings: [
        ...judgeQuery(found, searchParams, wrongIn),
        ...judgeBody(document, found, sent, wrongIn),
        ...judgeAnswer(document, found, status, answered, wrongIn),
      ],
    }
  }
}

type WrongIn = (what: string, value: unknown, pointer: string) => string[]

function judgeQuery(operation: Operation, query: URLSearchParams, wrongIn: WrongIn): string[] {
  const known = operation.parameters.filter(({ parameter }) => parameter.in === 'query')
  const names = known.map(({ parameter }) => parameter.name)
  return [
    ...[...query.keys()]
      .filter((name) => !names.includes(name))
      .map((name) => `query ${name} is not known`),
    ...known.flatMap(({ parameter, pointer }) => {
      const { name, required, schema } = parameter
      const text = query.get(name)
      if (text === null) return required ? [`query ${name} is missing`] : []
      const what = `query ${name}`
      // Swagger 2 has the schema keywords in the parameter itself.
      if (!schema) return wrongType(what, text, parameter)
      return wrongIn(what, typed(text, schema['type']), `${pointer}/schema`)
    }),
  ]
}

function wrongType(what: string, text: string, { type, enum: values }: Json): string[] {
  const value = typed(text, type)
  const fits = type === 'integer' ? Number.isInteger(value) : typeof value === type
  if (!fits) return [`${what} must be ${type}`]
  return Array.isArray(values) && !values.includes(value) ? [`${what} must be one of a list`] : []
}

/** Converts the text of a query parameter to its declared type. */
function typed(text: string, type: unknown): unknown {
  if (type === 'integer' || type === 'number')
    return text === '' || Number.isNaN(Number(text)) ? text : Number(text)
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

function judgeBody(
  document: Json,
  { described, pointer, parameters }: Operation,
  sent: unknown,
  wrongIn: WrongIn,
): string[] {
  const swagger = parameters.find(({ parameter }) => parameter.in === 'body')
  const open = described['requestBody'] as { required?: boolean; content?: Json } | undefined
  const at = swagger
    ? `${swagger.pointer}/schema`
    : open?.content?.['application/json']
      ? `${pointer}/requestBody/content/application~1json/schema`
      : null
  if (at === null) return sent === undefined ? [] : ['body is not described']
  if (sent === undefined)
    return swagger?.parameter.required || open?.required ? ['body is missing'] : []
  return [...wrongIn('body', sent, at), ...unknownMembers(document, at, sent)]
}

/** Descriptions allow any member, but a connector must send only described ones. */
function unknownMembers(document: Json, pointer: string, sent: unknown): string[] {
  const schema = resolved(document, lookUp(document, pointer) as Json)
  const properties = schema['properties'] as Json | undefined
  if (!properties || typeof sent !== 'object' || sent === null) return []
  return Object.keys(sent)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `body/${name} is not known`)
}

function judgeAnswer(
  document: Json,
  { described, pointer }: Operation,
  status: number,
  answered: unknown,
  wrongIn: WrongIn,
): string[] {
  const responses = described['responses'] as Json
  const response = responses[status] as Json | undefined
  // Descriptions often omit failures.
  if (!response) return status < 400 ? [`answer ${status} is not described`] : []
  const { $ref } = response as { $ref?: string }
  const at = $ref ? $ref.slice(1) : `${pointer}/responses/${status}`
  const { schema, content } = resolved(document, response) as { schema?: Json; content?: Json }
  const inner = schema
    ? '/schema'
    : content?.['application/json']
      ? '/content/application~1json/schema'
      : null
  if (inner === null)
    return answered === undefined || status >= 400 ? [] : ['answer should have no body']
  if (answered === undefined) return ['answer has no body']
  return wrongIn('answer', answered, at + inner)
}

function operationsOf(document: Json): Operation[] {
  const paths = document['paths'] as Record<string, Json>
  const all = Object.entries(paths).flatMap(([template, methods]) =>
    METHODS.filter((method) => methods[method]).map((method): Operation => {
      const at = `/paths/${escaped(template)}`
      const described = methods[method] as Json
      const listed = (list: unknown, pointer: string) =>
        ((list ?? []) as Parameter[]).map((one, index) => ({
          parameter: resolved(document, one) as Parameter,
          pointer: typeof one['$ref'] === 'string' ? one['$ref'].slice(1) : `${pointer}/${index}`,
        }))
      return {
        name: `${method.toUpperCase()} ${template}`,
        method: method.toUpperCase(),
        pattern: patternOf(template),
        pointer: `${at}/${method}`,
        parameters: [
          ...listed(methods['parameters'], `${at}/parameters`),
          ...listed(described['parameters'], `${at}/${method}/parameters`),
        ],
        described,
      }
    }),
  )
  // `/users/me` before `/users/{id}`.
  return all.sort((one, other) => braces(one.name) - braces(other.name))
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete', 'head'] as const

const braces = (text: string): number => text.split('{').length

const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split(/\{[^}]+\}/)
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^/]+')}$`,
  )

function resolved(document: Json, value: Json): Json {
  const { $ref } = value as { $ref?: unknown }
  return typeof $ref === 'string' ? (lookUp(document, $ref.slice(1)) as Json) : value
}

const lookUp = (document: Json, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, name) => (value as Json)[name], document)

const escaped = (segment: string): string =>
  encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type `null`. */
function withNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNull)
  if (typeof value !== 'object' || value === null) return value
  const { nullable, ...schema } = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withNull(one)]),
  ) as Json
  if (nullable !== true) return nullable === undefined ? schema : { ...schema, nullable }
  return { anyOf: [schema, { type: 'null' }] }
}
