import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { OpenApiDocument } from '../../../runtime/http/documents/document.ts'

/** Annotations of the wire; everything else that is unknown to JSON Schema is refused. */
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

/** A strict judge of JSON Schema 2020-12, independent of what wrote the schemas. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false })
  formats.default(ajv)
  ajv.addVocabulary(ANNOTATIONS)
  return ajv
}

/** What is wrong with an OpenAPI document, in the words of its own schema. */
export async function openApiFindings(document: OpenApiDocument): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never)
  return valid ? [] : errors
}

/** What references into a document are called by its judge. */
const NAME = 'document'
const referring = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', `${NAME}#/$defs/`))

const judges = new WeakMap<OpenApiDocument, Ajv2020>()

/** The judge of a document: each of its components is compiled once. */
function judgeOf(document: OpenApiDocument): Ajv2020 {
  const known = judges.get(document)
  if (known) return known
  const made = createAjv()
  made.addSchema(referring({ $id: NAME, $defs: document.components.schemas }))
  judges.set(document, made)
  return made
}

/** Compiles a schema of a document; references in it lead into the document. */
export const compile = (document: OpenApiDocument, schema: object): ValidateFunction =>
  judgeOf(document).compile(referring(schema))
