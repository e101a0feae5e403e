/**
 * Validates every JSON answer against the server's own /openapi.json, with a validator that the runtime does
 * not use.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

type Responses = Record<string, { $ref?: string }>
type Document = { paths: Record<string, Record<string, { responses: Responses }>> }

/** Throws if an answer does not conform to its operation in the document. */
export type Judge = (method: string, path: string, status: number, text: string) => void

const NAME = 'openapi.json'
const ERROR = '/components/schemas/ErrorResponse'

/** Validators of earlier hosts, by document: most hosts have the same one. */
const judges = new Map<string, Judge>()
const MAX_JUDGES = 10

/** The validator of a document. */
export function createJudge(documentJson: string): Judge {
  const known = judges.get(documentJson)
  if (known) return known
  if (judges.size >= MAX_JUDGES) judges.clear()
  const made = judgeOf(documentJson)
  judges.set(documentJson, made)
  return made
}

/** Validators by the path of the connector interface: nothing else in a document depends on the host. */
const byPath = new Map<string, Promise<Judge>>()

/** The validator of a host. Its document is only requested if no earlier host had the same. */
export function judgeOfHost(
  { connectorsPath }: { connectorsPath: string },
  document: () => Promise<string>,
): Promise<Judge> {
  const known = byPath.get(connectorsPath)
  if (known !== undefined) return known
  const made = document().then(createJudge)
  byPath.set(connectorsPath, made)
  made.catch(() => byPath.delete(connectorsPath))
  return made
}

function judgeOf(documentJson: string): Judge {
  const document = JSON.parse(documentJson) as Document
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  formats.default(ajv)
  ajv.addSchema(document, NAME)
  const compiled = new Map<string, ValidateFunction>()

  const find = templatesOf(document)

  const validator = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `${NAME}#${pointer}` })
    compiled.set(pointer, known)
    return known
  }

  return (method, path, status, text) => {
    const pointer = schemaPointer(document, find(path), method, path, status)
    const validate = validator(pointer)
    if (validate(JSON.parse(text))) return
    throw new Error(
      `${method} ${path} → ${status}: the answer is not what openapi.json says at ${pointer}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 1000)}`,
    )
  }
}

/** The pointer to the schema of an answer. Unknown operations may only return an error. */
function schemaPointer(
  { paths }: Document,
  template: string | undefined,
  method: string,
  path: string,
  status: number,
): string {
  const operation = template && paths[template]?.[method.toLowerCase()]
  if (!template || !operation) return ERROR
  const response = operation.responses[String(status)]
  if (!response)
    throw new Error(`${method} ${path} → ${status}: openapi.json does not describe this status`)
  const at =
    response.$ref?.slice(1) ??
    `/paths/${escaped(template)}/${method.toLowerCase()}/responses/${status}`
  return `${at}/content/application~1json/schema`
}

/**
 * Finds the template of a path. `-` and `_` are equivalent in the last segment; the document lists one of
 * them.
 */
function templatesOf({ paths }: Document): (path: string) => string | undefined {
  const segmentsOf = (path: string): string[] => path.replaceAll('-', '_').split('/')
  const templates = Object.keys(paths).map((template) => ({
    template,
    wanted: segmentsOf(template),
  }))
  return (path) => {
    const given = segmentsOf(path)
    return templates.find(
      ({ wanted }) =>
        wanted.length === given.length &&
        wanted.every((segment, index) => segment.startsWith('{') || segment === given[index]),
    )?.template
  }
}

const escaped = (segment: string): string =>
  encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))
