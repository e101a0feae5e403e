/** Which custom attributes a service has: RFC 7643 sections 6 and 7. */
import type { Output } from 'keyway/sdk'
import { type Ctx, ifServed, type ListResponse, service } from './service.ts'
import { ENTERPRISE_SCHEMA, USER_SCHEMA } from './users.ts'

type CustomAttribute = Output<'list_custom_attributes_schema'>[number]

type Attribute = {
  name: string
  type?: string
  multiValued?: boolean
  mutability?: string
  returned?: string
  description?: string
}
type Schema = { id: string; attributes?: Attribute[] }
type ResourceType = {
  endpoint?: string
  schema?: string
  schemaExtensions?: { schema?: string }[]
}

/** Attributes that are members of an account already, or no description of a person. */
const NOT_CUSTOM = ['username', 'active', 'password', 'id', 'externalid']

/** The text attributes of the schemas that users have: the core one and its extensions. */
export async function listCustomAttributes(ctx: Ctx): Promise<CustomAttribute[]> {
  const api = service(ctx)
  const types = await ifServed(api.get<ListResponse<ResourceType>>('/ResourceTypes'))
  const schemas = await api.get<ListResponse<Schema>>('/Schemas')
  const wanted = userSchemas(types?.Resources ?? [])
  return (schemas.Resources ?? [])
    .filter((schema) => wanted.includes(schema.id))
    .flatMap((schema) => (schema.attributes ?? []).flatMap((one) => toCustom(schema.id, one)))
}

function userSchemas(types: ResourceType[]): string[] {
  const users = types.find((type) => /\/Users\/?$/i.test(type.endpoint ?? ''))
  // Without resource types, the two schemas that RFC 7643 has for users.
  if (users === undefined) return [USER_SCHEMA, ENTERPRISE_SCHEMA]
  const extensions = (users.schemaExtensions ?? []).flatMap((one) => one.schema ?? [])
  return [users.schema ?? USER_SCHEMA, ...extensions]
}

/** Core attributes go by their plain name, those of an extension by the full one. */
function toCustom(schema: string, attribute: Attribute): CustomAttribute[] {
  const { name, type = 'string', multiValued, mutability, returned, description } = attribute
  const isManager = schema === ENTERPRISE_SCHEMA && name === 'manager'
  const isText = type === 'string' || type === 'reference'
  const hidden = mutability === 'writeOnly' || returned === 'never'
  if (!(isText || isManager) || multiValued || hidden) return []
  if (NOT_CUSTOM.includes(name.toLowerCase())) return []
  return [
    {
      customized_type: 'ACCOUNT',
      name: schema === USER_SCHEMA ? name : `${schema}:${name}`,
      attribute_type: isManager ? 'USER' : 'STRING',
      description: description ?? null,
    },
  ]
}
