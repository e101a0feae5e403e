/** Profile attributes of users, and of users in an application. */
import { ifThere, type Output, path } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'

type Choice = { const?: unknown; title?: string }

type Property = {
  title?: string
  description?: string
  type?: string
  enum?: unknown[]
  oneOf?: Choice[]
  items?: { enum?: unknown[]; oneOf?: Choice[] }
}

type Schema = {
  definitions?: { [section: string]: { properties?: { [name: string]: Property } } | undefined }
}

/** Attributes that an account already has as members of its own. */
const STANDARD = ['login', 'email', 'firstName', 'lastName']

/** Types that can be represented as one text. */
const TEXTS = ['string', 'boolean', 'integer', 'number']

/** Returns the profile attributes of users, Okta's own and the organisation's. */
export async function listCustomAttributes(
  ctx: Ctx,
): Promise<Output<'list_custom_attributes_schema'>> {
  const schema = await service(ctx).get<Schema>('/meta/schemas/user/default')
  return propertiesOf(schema)
    .filter(([name, { type = 'string' }]) => TEXTS.includes(type) && !STANDARD.includes(name))
    .map(([name, { title, description }]) => ({
      customized_type: 'ACCOUNT',
      name,
      attribute_type: 'STRING',
      description: description ?? title ?? null,
    }))
}

/** Attribute of an application's users with a list of choices. */
export type ChoiceAttribute = {
  name: string
  title: string
  description: string | null
  /** Whether a user may have several of the values. */
  several: boolean
  values: { value: string; title: string }[]
}

/** Returns the attributes with a list of choices. Empty if the application has no profiles. */
export async function readChoices(ctx: Ctx, applicationId: string): Promise<ChoiceAttribute[]> {
  const address = path`/meta/schemas/apps/${applicationId}/default`
  const schema = await ifThere(service(ctx).get<Schema>(address))
  return propertiesOf(schema ?? {}).flatMap(([name, property]) => {
    const several = property.type === 'array'
    const values = valuesOf(several ? (property.items ?? {}) : property)
    const { title = name, description = null } = property
    return values.length === 0 ? [] : [{ name, title, description, several, values }]
  })
}

/** Returns the choices of an attribute. `oneOf` adds titles to the values. */
function valuesOf({ enum: plain = [], oneOf = [] }: Pick<Property, 'enum' | 'oneOf'>) {
  const titled = oneOf.map(({ const: value, title }) => ({ value, title }))
  const all = titled.length > 0 ? titled : plain.map((value) => ({ value, title: undefined }))
  return all.flatMap(({ value, title }) =>
    typeof value === 'string' ? [{ value, title: title ?? value }] : [],
  )
}

const propertiesOf = ({ definitions = {} }: Schema): [string, Property][] =>
  Object.values(definitions).flatMap((section) => Object.entries(section?.properties ?? {}))
