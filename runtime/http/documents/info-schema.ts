/** Answers to `info` and `app_info`: connector-interface.md sections 1.3 and 2.2. */
import * as v from 'valibot'
import * as manifest from '../../contract/connector/manifest.ts'
import { freeObject, nullable } from '../../contract/schema/schemas.ts'

const jsonSchema = (description: string) => v.pipe(freeObject(), v.metadata({ description }))
const text = (description: string) => v.pipe(v.string(), v.metadata({ description }))

const CapabilitySchema = v.pipe(
  v.strictObject({
    argument: jsonSchema('JSON Schema of `request`'),
    output: jsonSchema('JSON Schema of `response`'),
    display_name: nullable(text('Such as `List Accounts`')),
    description: nullable(v.string()),
  }),
  v.metadata({
    title: 'CapabilitySchema',
    description: 'What one capability takes and gives, without the envelopes',
  }),
)

const ResourceType = v.pipe(
  v.strictObject(manifest.ResourceType.entries),
  v.metadata({ title: 'ResourceType', description: 'A kind of resource' }),
)

const EntitlementType = v.pipe(
  v.strictObject({
    ...manifest.EntitlementType.entries,
    max: nullable(
      v.pipe(
        v.number(),
        v.safeInteger(),
        v.minValue(1),
        v.metadata({ description: 'How many an account may hold; null is any number' }),
      ),
    ),
  }),
  v.metadata({ title: 'EntitlementType', description: 'A kind of entitlement' }),
)

/** Object in `response` of `info`. Optional members are always present, and null if absent. */
export const Info = v.pipe(
  v.strictObject({
    app_id: text('The connector’s id'),
    version: text('Another one in every build; not necessarily semver'),
    capabilities: v.pipe(v.array(v.string()), v.metadata({ description: 'In alphabetical order' })),
    capability_schema: v.pipe(
      v.record(v.string(), CapabilitySchema),
      v.metadata({ description: 'By capability' }),
    ),
    authentication_schema: jsonSchema(
      'JSON Schema of the fields of the one credential; {} where there are several',
    ),
    credentials_schema: v.pipe(
      v.array(freeObject()),
      v.metadata({ description: 'JSON Schemas of the credentials; [] where there is one' }),
    ),
    entitlement_types: v.array(EntitlementType),
    resource_types: v.array(ResourceType),
    request_settings_schema: jsonSchema('JSON Schema of `settings`'),
    oauth_scopes: nullable(
      v.pipe(
        v.record(v.string(), v.string()),
        v.metadata({ description: 'Scopes, separated by spaces, by capability' }),
      ),
    ),
    app_vendor_domain: nullable(v.string()),
    logo_url: nullable(v.string()),
    user_friendly_name: nullable(v.string()),
    description: nullable(v.string()),
    categories: nullable(v.array(v.string())),
  }),
  v.metadata({ title: 'Info', description: 'What a connector is and can do' }),
)
export type Info = v.InferOutput<typeof Info>

/** Object in `response` of `app_info`. */
export const AppInfo = v.pipe(
  v.strictObject({
    app_id: text('The connector’s id'),
    app_schema: jsonSchema('The connector’s own OpenAPI 3.1 document'),
  }),
  v.metadata({ title: 'AppInfo', description: 'A connector’s machine-readable description' }),
)
