/**
 * Entitlements within applications: their assigned groups, and the values of user attributes that have a list
 * of choices, such as roles.
 */
import {
  ConnectorError,
  chain,
  type Input,
  type Listing,
  mapped,
  nested,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { type ApplicationUser, applications, readApplicationUser, usersOf } from './applications.ts'
import {
  GROUP,
  type Group,
  membersOf,
  ORGANIZATION,
  putIntoGroup,
  takeFromGroup,
} from './groups.ts'
import { type ChoiceAttribute, readChoices } from './schemas.ts'
import { type Ctx, listing, service } from './service.ts'

type Entitlement = Output<'list_applications_entitlements'>[number]
type Association = Output<'list_applications_entitlement_associations'>[number]
type Grant = Input<'assign_application_entitlement'>

export const PROFILE_ATTRIBUTE = 'PROFILE_ATTRIBUTE'
export const ATTRIBUTE_VALUE = 'ATTRIBUTE_VALUE'

/** Group that an application is assigned to. */
type ApplicationGroup = { id: string; _embedded?: { group?: Group } }

const groupsOf = (ctx: Ctx, application: string): Listing<ApplicationGroup> =>
  listing<ApplicationGroup>(ctx, path`/apps/${application}/groups`, { expand: 'group' })

const choicesOf =
  (ctx: Ctx, application: string): Listing<ChoiceAttribute> =>
  () =>
    readChoices(ctx, application)

/** Concatenates two listings. */
const concatenated = <T>(first: Listing<T>, second: Listing<T>): Listing<T> =>
  nested<Listing<T>, T>(
    () => [first, second],
    (one) => one,
  )

/** Returns one page of attributes with a list of choices, of all applications. */
export const listApplicationsResources = (
  ctx: Ctx,
): Promise<Paged<Output<'list_applications_resources'>>> =>
  chain<Output<'list_applications_resources'>[number]>(ctx, {
    attributes: nested(applications(ctx), ({ id }) =>
      mapped(choicesOf(ctx, id), ({ name, title, description, several }) => [
        {
          application_instance_id: id,
          integration_specific_id: name,
          label: title,
          resource_type: PROFILE_ATTRIBUTE,
          description,
          extra_data: { several_values: several },
        },
      ]),
    ),
  })

/** Returns one page of groups and attribute values, of all applications. */
export const listApplicationsEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    entitlements: nested(applications(ctx), ({ id }) =>
      concatenated<Entitlement>(
        mapped(groupsOf(ctx, id), (group) => [
          {
            application_instance_id: id,
            entitlement_type: GROUP,
            integration_specific_id: group.id,
            integration_specific_resource_id: ORGANIZATION,
            label: group._embedded?.group?.profile.name ?? group.id,
          },
        ]),
        mapped(choicesOf(ctx, id), (attribute) =>
          attribute.values.map(({ value, title }) => ({
            application_instance_id: id,
            entitlement_type: ATTRIBUTE_VALUE,
            integration_specific_id: value,
            integration_specific_resource_id: attribute.name,
            label: `${attribute.title}: ${title}`,
          })),
        ),
      ),
    ),
  })

/** Returns one page of associations of users with groups and attribute values. */
export const listApplicationsAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  chain<Association>(ctx, {
    associations: nested(applications(ctx), ({ id }) =>
      concatenated<Association>(inGroups(ctx, id), withValues(ctx, id)),
    ),
  })

const inGroups = (ctx: Ctx, application: string): Listing<Association> =>
  nested(groupsOf(ctx, application), (group) =>
    mapped(membersOf(ctx, group.id), (user) => [
      {
        account_id: user.id,
        application_instance_id: application,
        integration_specific_entitlement_id: group.id,
        integration_specific_resource_id: ORGANIZATION,
      },
    ]),
  )

/**
 * Lists associations with attribute values. Users are read once for all attributes, and not at all if there
 * are none.
 */
const withValues = (ctx: Ctx, application: string): Listing<Association> =>
  nested(
    async () => {
      const choices = await readChoices(ctx, application)
      return choices.length === 0 ? [] : [choices]
    },
    (choices) =>
      mapped(usersOf(ctx, application), (user) =>
        choices.flatMap((attribute) =>
          valuesOf(user, attribute).map((value) => ({
            account_id: user.id,
            application_instance_id: application,
            integration_specific_entitlement_id: value,
            integration_specific_resource_id: attribute.name,
          })),
        ),
      ),
  )

/** Returns a user's values of an attribute that are among its choices. */
function valuesOf({ profile = {} }: ApplicationUser, attribute: ChoiceAttribute): string[] {
  const held = [profile[attribute.name]].flat()
  return attribute.values.map(({ value }) => value).filter((value) => held.includes(value))
}

/** Grants a group or a value. A value replaces the current one if the attribute is single-valued. */
export async function assignApplicationEntitlement(
  request: Grant,
  ctx: Ctx,
): Promise<Output<'assign_application_entitlement'>> {
  const user = request.account_integration_specific_id
  const value = request.entitlement_integration_specific_id
  if (isGroup(request)) {
    await mustBeAssigned(ctx, request)
    await putIntoGroup(ctx, value, user)
  } else {
    await change(request, ctx, (held) => (held.includes(value) ? held : [...held, value]))
  }
  return { assigned: true }
}

/** Revokes a group or a value. Revoking one that is not held is not an error. */
export async function unassignApplicationEntitlement(
  request: Grant,
  ctx: Ctx,
): Promise<Output<'unassign_application_entitlement'>> {
  const user = request.account_integration_specific_id
  const value = request.entitlement_integration_specific_id
  if (isGroup(request)) {
    await mustBeAssigned(ctx, request)
    await takeFromGroup(ctx, value, user)
  } else {
    await change(request, ctx, (held) => held.filter((one) => one !== value))
  }
  return { unassigned: true }
}

function isGroup({ entitlement_type: type, resource_integration_specific_id: of }: Grant): boolean {
  if (type === GROUP && of === ORGANIZATION) return true
  if (type === ATTRIBUTE_VALUE && of !== '') return false
  throw new ConnectorError(
    'bad_request',
    `No such entitlement: write a ${GROUP} of the empty resource, or an ${ATTRIBUTE_VALUE} of an attribute`,
  )
}

/**
 * Checks that the application is assigned to the group.
 *
 * @throws `not_found` if it is not
 */
async function mustBeAssigned(ctx: Ctx, request: Grant): Promise<void> {
  const { application_instance_id: application, entitlement_integration_specific_id: id } = request
  await service(ctx).get(path`/apps/${application}/groups/${id}`)
}

/** Changes a user's values of an attribute. Writes them only if they differ. */
async function change(
  request: Grant,
  ctx: Ctx,
  changed: (held: string[]) => string[],
): Promise<void> {
  const { application_instance_id: application, account_integration_specific_id: id } = request
  const attribute = await chosen(ctx, request)
  const user = await readApplicationUser(ctx, application, id)
  if (user === null)
    throw new ConnectorError('not_found', `${id} is not assigned to this application`, {
      status_code: 404,
    })
  const held = valuesOf(user, attribute)
  const after = changed(held)
  if (after.join('\n') === held.join('\n')) return
  const value = attribute.several ? after : (after.at(-1) ?? null)
  await service(ctx).post(path`/apps/${application}/users/${id}`, {
    profile: { [attribute.name]: value },
  })
}

/**
 * Returns the attribute that a grant names.
 *
 * @throws `not_found` if the application has no such attribute or value
 */
async function chosen(ctx: Ctx, request: Grant): Promise<ChoiceAttribute> {
  const { resource_integration_specific_id: name, entitlement_integration_specific_id: id } =
    request
  const choices = await readChoices(ctx, request.application_instance_id)
  const attribute = choices.find((one) => one.name === name)
  if (attribute?.values.some(({ value }) => value === id)) return attribute
  throw new ConnectorError(
    'not_found',
    `The application has no ${attribute ? `value ${id} of ${name}` : `attribute ${name}`} to choose`,
  )
}
