/** Example values for schemas. With them, every operation shows a request that is accepted. */
import type { AnySchema } from '../../contract/schema/shape.ts'
import { toSchema } from '../schemas/json-schema.ts'
import type { JsonSchema } from '../schemas/tidy.ts'

/** Values by member name that tell a reader more than `string`. */
const SAMPLES: Record<string, unknown> = {
  account_id: 'u-1',
  id: 'u-1',
  account_ids: ['u-1', 'u-2'],
  source_account_id: 'u-1',
  target_account_id: 'u-2',
  account_integration_specific_id: 'u-1',
  application_instance_id: 'app-7',
  entitlement_integration_specific_id: 'r-9',
  entitlement_type: 'ROLE',
  entitlements: [],
  resource_integration_specific_id: '',
  resource_type: 'GLOBAL_RESOURCE',
  scopes: ['users:read'],
  redirect_uri: 'https://app.example/callback',
  redirect_uri_with_code: 'https://app.example/callback?code=c-1&state=st-1',
  state: 'st-1',
}

const FORMATS: Record<string, string> = {
  uri: 'https://acme.example',
  hostname: 'acme.example',
  email: 'ada@acme.example',
}

/** Returns the smallest request that the schema accepts. */
export function sampleOf(schema: AnySchema): unknown {
  return sampleOfJson(toSchema(schema, 'input'))
}

/** Returns the same for a JSON Schema without references. `name` is its member in the parent. */
export function sampleOfJson(schema: JsonSchema, name = ''): unknown {
  if (schema['default'] !== undefined) return schema['default']
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  const [type] = [schema.type].flat()
  const known = Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : undefined
  if ((Array.isArray(known) ? 'array' : typeof known) === type) return known
  return type === undefined ? firstOf(schema, name) : BY_TYPE[type]?.(schema, name)
}

const BY_TYPE: Record<string, (schema: JsonSchema, name: string) => unknown> = {
  object(schema) {
    const members = schema.properties ?? {}
    const names = schema.required ?? []
    return Object.fromEntries(names.map((name) => [name, sampleOfJson(members[name] ?? {}, name)]))
  },
  array: (schema) => [sampleOfJson(schema.items ?? {})],
  integer: (schema) => schema['minimum'] ?? 1,
  number: (schema) => schema['minimum'] ?? 1,
  boolean: () => true,
  string: ({ format }, name) => FORMATS[String(format)] ?? `your-${name.replaceAll('_', '-')}`,
}

function firstOf(schema: JsonSchema, name: string): unknown {
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  return first === undefined ? {} : sampleOfJson(first, name)
}
