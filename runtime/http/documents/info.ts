/** Answer to `info` of one connector, built from its manifest: connector-interface.md section 2.2. */
import { CAPABILITIES } from '../../contract/capabilities/capabilities.ts'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { flowOf, servedCapabilities } from '../../contract/connector/oauth.ts'
import { answerFields, requestSchema, responseSchema } from '../../contract/connector/payload.ts'
import { credentialSchema } from '../schemas/credentials.ts'
import { formSchema } from '../schemas/field-schema.ts'
import { toSchema } from '../schemas/json-schema.ts'
import type { JsonSchema } from '../schemas/tidy.ts'
import type { Info } from './info-schema.ts'
import { AUTOMATIC, type OperationParts } from './operations.ts'

/** Creates the Info object of a connector. Optional members are null if absent. */
export function infoOf(manifest: Manifest, { logoUrl }: { logoUrl: string | null }): Info {
  const schemas = capabilitySchemas(manifest)
  const { authentication_schema: single, credentials = [] } = manifest
  return {
    app_id: manifest.id,
    version: manifest.version,
    capabilities: Object.keys(schemas),
    capability_schema: schemas,
    authentication_schema: single ? credentialSchema(single.kind, single.fields) : {},
    credentials_schema: credentials.map((one) => credentialItem(one, manifest)),
    entitlement_types: manifest.entitlement_types.map((one) => ({ ...one, max: one.max ?? null })),
    resource_types: manifest.resource_types,
    request_settings_schema: formSchema(manifest.settings),
    oauth_scopes: manifest.oauth?.scopes ?? null,
    app_vendor_domain: manifest.vendor_domain ?? null,
    logo_url: logoUrl,
    user_friendly_name: manifest.name ?? null,
    description: manifest.description ?? null,
    categories: manifest.categories ?? null,
  }
}

/** Returns the schemas by capability in alphabetical order, including `app_info`. */
function capabilitySchemas(manifest: Manifest): Info['capability_schema'] {
  const { request, response, name, summary } = AUTOMATIC.app_info
  const standard = servedCapabilities(manifest).map((one) => {
    const declared = manifest.capabilities[one]
    return entry(
      one,
      CAPABILITIES[one].summary,
      requestSchema(one, declared?.request_fields),
      responseSchema(one, answerFields(one, declared)),
    )
  })
  const all = [...standard, entry(name, summary, request, response)]
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function entry(
  name: string,
  description: string,
  request: OperationParts['request'],
  response: OperationParts['response'],
): [string, Info['capability_schema'][string]] {
  const argument = toSchema(request, 'input')
  const output = toSchema(response, 'output')
  return [name, { argument, output, display_name: titleCase(name), description }]
}

function credentialItem(
  credential: NonNullable<Manifest['credentials']>[number],
  { settings }: Manifest,
): JsonSchema {
  const { id, kind, title, description, optional, fields, oauth } = credential
  const schema = credentialSchema(kind, fields)
  return {
    id,
    ...schema,
    title: title ?? schema['title'],
    description: description ?? schema['description'],
    'x-optional': optional,
    ...(oauth
      ? {
          oauth_settings: {
            oauth_type: flowOf(oauth, settings),
            scopes: oauth.scopes ?? null,
            pkce_enabled: oauth.pkce,
          },
        }
      : {}),
  }
}

/** `list_accounts` -> `List Accounts`. */
function titleCase(name: string): string {
  return name
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ')
}
