/** One connector's own OpenAPI 3.1 document: its capabilities, fields, credentials and settings. */

import type { Manifest } from '../../contract/connector/manifest.ts'
import { servedCapabilities } from '../../contract/connector/oauth.ts'
import { answerFields, requestSchema, responseSchema } from '../../contract/connector/payload.ts'
import { flatSchema } from '../../contract/connector/settings.ts'
import { literalSchema } from '../../contract/envelope/envelope-schemas.ts'
import { maybe } from '../../contract/schema/schemas.ts'
import { credentialSchema } from '../schemas/credentials.ts'
import { formSchema } from '../schemas/field-schema.ts'
import { createComponents } from '../schemas/json-schema.ts'
import { type JsonSchema, tidy } from '../schemas/tidy.ts'
import type { OpenApiDocument, PathItem } from './document.ts'
import {
  AUTOMATIC,
  capabilityParts,
  infoPath,
  type OperationParts,
  ORDERED_NAMES,
  postOperation,
  type Surroundings,
  TAGS,
} from './operations.ts'
import { sharedComponents } from './responses.ts'
import { sampleOfJson } from './sample.ts'

/** Creates the document that `app_info` returns. */
export function connectorDocument(
  manifest: Manifest,
  { connectorsPath }: { connectorsPath: string },
): OpenApiDocument {
  const components = createComponents()
  const surroundings = surroundingsOf(manifest)
  const shared = sharedComponents(components)
  const at = (name: string) => `${connectorsPath}/${manifest.id}/${name}`
  const post = (parts: OperationParts) => postOperation(parts, surroundings, components)
  const served = servedCapabilities(manifest)
  const own = ORDERED_NAMES.filter((name) => served.includes(name)).map(
    (name): [string, PathItem] => {
      const declared = manifest.capabilities[name]
      const request = requestSchema(name, declared?.request_fields)
      const response = responseSchema(name, answerFields(name, declared))
      return [at(name), { post: post(capabilityParts(name, request, response)) }]
    },
  )
  const { Operating, ...tags } = TAGS
  const { adminToken, ...securitySchemes } = shared.securitySchemes
  return {
    openapi: '3.1.0',
    info: {
      title: manifest.name ?? manifest.id,
      version: manifest.version,
      ...(manifest.description === undefined ? {} : { description: manifest.description }),
    },
    tags: Object.values(tags),
    paths: {
      [at('info')]: infoPath(surroundings, post(AUTOMATIC.info)),
      [at('app_info')]: { post: post(AUTOMATIC.app_info) },
      ...Object.fromEntries(own),
    },
    components: { schemas: components.all(), ...shared, securitySchemes },
  }
}

function surroundingsOf(manifest: Manifest): Surroundings {
  const json = formSchema(manifest.settings)
  const settings = flatSchema(manifest.settings)
  const needed = json['required'] !== undefined
  const { name, schema, example } = credentialsOf(manifest)
  return {
    parameters: [],
    envelope: {
      settings: needed ? settings : maybe(settings),
      credentials: { [name]: literalSchema(schema) },
    },
    example: { [name]: example, ...(needed ? { settings: sampleOfJson(json) } : {}) },
  }
}

/** Returns the envelope's `auth`, or its `credentials` if a connector takes several. */
function credentialsOf({ authentication_schema: single, credentials = [] }: Manifest) {
  if (single) {
    const schema = member(single.kind, credentialSchema(single.kind, single.fields))
    return { name: 'auth', schema, example: sampleOfJson(schema) }
  }
  const items = credentials.map(({ id, kind, fields, title, description }) =>
    tidy({ ...member(kind, credentialSchema(kind, fields), id), title, description }),
  )
  const required = items.filter((_, index) => !credentials[index]?.optional)
  const sent = required.length > 0 ? required : items.slice(0, 1)
  const schema = tidy({
    type: 'array',
    description: 'One credential for each id; optional ones may be left out',
    minItems: sent.length,
    maxItems: items.length,
    items: { anyOf: items },
  })
  return { name: 'credentials', schema, example: sent.map((one) => sampleOfJson(one)) }
}

function member(kind: string, inner: JsonSchema, id?: string): JsonSchema {
  const { field_order, ...schema } = inner
  return tidy({
    type: 'object',
    properties: {
      ...(id === undefined ? {} : { id: { type: 'string', const: id } }),
      [kind]: schema,
    },
    required: id === undefined ? [kind] : ['id', kind],
  })
}
