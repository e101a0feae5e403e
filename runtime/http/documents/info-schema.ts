/** Answers to `info` and `app_info`: connector-interface.md sections 1.3 and 2.2. */
import * as v from 'valibot'
import * as manifest from '../../contract/connector/manifest.ts'
import { described, freeObject, nullable, strictObject } from '../../contract/schema/schemas.ts'

const jsonSchema = (description: string) => described(freeObject(), description)
const text = (description: string) => described(v.string(), description)

const CapabilitySchema = strictObject(
  'CapabilitySchema',
  'What one capability takes and gives, without the envelopes',
  {
    argument: jsonSchema('JSON Schema of `request`'),
    output: jsonSchema('JSON Schema of `response`'),
    display_name: nullable(text('Such as `List Accounts`')),
    description: nullable(v.string()),
  },
)

const ResourceType = strictObject(
  'ResourceType',
  'A kind of resource',
  manifest.ResourceType.entries,
)

const EntitlementType = strictObject('EntitlementType', 'A kind of entitlement', {
  ...manifest.EntitlementType.entries,
  max: nullable(
    described(
      v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
      'How many an account may hold; null is any number',
    ),
  ),
})

/** Object in `response` of `info`. Optional members are always present, and null if absent. */
export const Info = strictObject('Info', 'What a connector is and can do', {
  app_id: text('The connector’s id'),
  version: text('Another one in every build; not necessarily semver'),
  capabilities: described(v.array(v.string()), 'In alphabetical order'),
  capability_schema: described(v.record(v.string(), CapabilitySchema), 'By capability'),
  authentication_schema: jsonSchema(
    'JSON Schema of the fields of the one credential; {} where there are several',
  ),
  credentials_schema: described(
    v.array(freeObject()),
    'JSON Schemas of the credentials; [] where there is one',
  ),
  entitlement_types: v.array(EntitlementType),
  resource_types: v.array(ResourceType),
  request_settings_schema: jsonSchema('JSON Schema of `settings`'),
  oauth_scopes: nullable(
    described(v.record(v.string(), v.string()), 'Scopes, separated by spaces, by capability'),
  ),
  app_vendor_domain: nullable(v.string()),
  logo_url: nullable(v.string()),
  user_friendly_name: nullable(v.string()),
  description: nullable(v.string()),
  categories: nullable(v.array(v.string())),
})
export type Info = v.InferOutput<typeof Info>

/** Object in `response` of `app_info`. */
export const AppInfo = strictObject('AppInfo', 'A connector’s machine-readable description', {
  app_id: text('The connector’s id'),
  app_schema: jsonSchema('The connector’s own OpenAPI 3.1 document'),
})
