import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { OpenApiDocument } from '../../../runtime/http/documents/document.ts'

/** Annotations of the wire format; any other keyword that is unknown to JSON Schema is refused. */
const ANNOTATIONS = [
  'x-semantic',
  'x-secret',
  'x-field_type',
  'x-credential-type',
  'x-optional',
  'x-pattern',
  'field_order',
  'oauth_settings',
]

/** A strict validator of JSON Schema 2020-12, independent of the code that generates the schemas. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false })
  formats.default(ajv)
  ajv.addVocabulary(ANNOTATIONS)
  return ajv
}

/** Errors of an OpenAPI document, as reported by the schema of OpenAPI. */
export async function openApiFindings(document: OpenApiDocument): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never)
  return valid ? [] : errors
}

/** Name of the document in references that its validator resolves. */
const NAME = 'document'
const referring = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', `${NAME}#/$defs/`))

const judges = new WeakMap<OpenApiDocument, Ajv2020>()

/** The validator of a document: each of its components is compiled once. */
function judgeOf(document: OpenApiDocument): Ajv2020 {
  const known = judges.get(document)
  if (known) return known
  const made = createAjv()
  made.addSchema(referring({ $id: NAME, $defs: document.components.schemas }))
  judges.set(document, made)
  return made
}

/** Compiles a schema of a document; its references resolve within the document. */
export const compile = (document: OpenApiDocument, schema: object): ValidateFunction =>
  judgeOf(document).compile(referring(schema))
