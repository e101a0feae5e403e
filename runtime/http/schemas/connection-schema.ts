/** JSON Schemas for connecting an app, made from the schemas that validate it. */
import { authSchema } from '../../contract/connector/connection.ts'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { credentialSchema } from './credentials.ts'
import { formSchema } from './field-schema.ts'
import { toSchema } from './json-schema.ts'
import { type JsonSchema, tidy } from './tidy.ts'

/** Creates the connection schema of a connector (core-interface.md section 2.2). */
export function connectionSchemaOf(manifest: Manifest) {
  return {
    app_class_id: manifest.id,
    auth_schema: closed(authJsonSchema(manifest)),
    settings_schema: closed(formSchema(manifest.settings)),
  }
}

function authJsonSchema(manifest: Manifest): JsonSchema {
  const { authentication_schema: single, credentials = [] } = manifest
  const schema = toSchema(authSchema(manifest), 'input')
  if (single) return worded(schema, credentialSchema(single.kind, single.fields))
  const { properties: members = {} } = schema
  const properties = credentials.map(({ id, kind, fields, title, description }) => {
    const words = credentialSchema(kind, fields)
    const own = {
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
    }
    return [id, { ...worded(members[id] ?? {}, words), ...own }]
  })
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    field_order: credentials.map(({ id }) => id),
  }
}

/**
 * Merges two schemas: the validating one defines required members and defaults, the manifest's contains the
 * texts for people.
 */
function worded(judge: JsonSchema, words: JsonSchema): JsonSchema {
  const { required, ...rest } = words
  const must = judge['required']
  const properties = { ...judge.properties, ...words.properties }
  return { ...rest, properties, ...(must === undefined ? {} : { required: must }) }
}

/** Forbids unknown members, and marks secrets as write-only. */
function closed(schema: JsonSchema): JsonSchema {
  return tidy({ ...secretsMarked(schema), additionalProperties: false })
}

function secretsMarked(schema: JsonSchema): JsonSchema {
  const { properties } = schema
  return {
    ...schema,
    ...(schema['x-secret'] === true ? { writeOnly: true } : {}),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, secretsMarked(one)]),
          ),
        }),
  }
}
