/** Custom attributes of a service: RFC 7643 sections 6 and 7. */
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

/** Attributes that an account already has as members of its own, or that do not describe a person. */
const NOT_CUSTOM = ['username', 'active', 'password', 'id', 'externalid']

/** Returns the text attributes in the schemas of users: the core schema and its extensions. */
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
  // Without resource types, assume the two schemas that RFC 7643 defines for users.
  if (users === undefined) return [USER_SCHEMA, ENTERPRISE_SCHEMA]
  const extensions = (users.schemaExtensions ?? []).flatMap((one) => one.schema ?? [])
  return [users.schema ?? USER_SCHEMA, ...extensions]
}

/** Converts an attribute. Core attributes have their plain name, those of an extension the full one. */
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
