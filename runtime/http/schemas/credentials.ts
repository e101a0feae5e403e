/** A connector's credentials as JSON Schema: the fields of the kind, with the manifest's texts. */
import { AUTHENTICATION, type CredentialKind } from '../../contract/connector/authentication.ts'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { toSchema } from './json-schema.ts'
import { type JsonSchema, tidy } from './tidy.ts'

type CredentialFields = NonNullable<NonNullable<Manifest['authentication_schema']>['fields']>

/** Creates the JSON Schema of one credential's fields, with `field_order` for forms. */
export function credentialSchema(kind: CredentialKind, fields: CredentialFields = {}): JsonSchema {
  const schema = toSchema(AUTHENTICATION[kind], 'input')
  const members = Object.entries(schema.properties ?? {})
  const properties = members.map(([name, member]) => [name, worded(member, fields[name])])
  return tidy({
    ...schema,
    properties: Object.fromEntries(properties),
    'x-credential-type': kind,
    field_order: members.map(([name]) => name),
  })
}

function worded(member: JsonSchema, words: CredentialFields[string] | undefined): JsonSchema {
  if (words === undefined) return member
  const { title, help, default: value } = words
  return {
    ...member,
    ...(title === undefined ? {} : { title }),
    ...(help === undefined ? {} : { description: help }),
    ...(value === undefined ? {} : { default: value }),
  }
}
