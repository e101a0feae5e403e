/** Attributes of profiles: those of users, and those of users in an application. */
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

/** Attributes that are members of an account already. */
const STANDARD = ['login', 'email', 'firstName', 'lastName']

/** Types that read as one text. */
const TEXTS = ['string', 'boolean', 'integer', 'number']

/** The attributes of users' profiles, Okta's own and the organisation's. */
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

/** An attribute of an application's users that has a list of values to choose from. */
export type ChoiceAttribute = {
  name: string
  title: string
  description: string | null
  /** Whether a person may have several of the values. */
  several: boolean
  values: { value: string; title: string }[]
}

/** The attributes with values to choose from; none where an application has no profiles. */
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

/** Values as Okta names them; `oneOf` gives them titles. */
function valuesOf({ enum: plain = [], oneOf = [] }: Pick<Property, 'enum' | 'oneOf'>) {
  const titled = oneOf.map(({ const: value, title }) => ({ value, title }))
  const all = titled.length > 0 ? titled : plain.map((value) => ({ value, title: undefined }))
  return all.flatMap(({ value, title }) =>
    typeof value === 'string' ? [{ value, title: title ?? value }] : [],
  )
}

const propertiesOf = ({ definitions = {} }: Schema): [string, Property][] =>
  Object.values(definitions).flatMap((section) => Object.entries(section?.properties ?? {}))
