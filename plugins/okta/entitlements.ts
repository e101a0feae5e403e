/** Entitlements of the organisation: groups, and access to applications. */
import {
  ConnectorError,
  chain,
  type Input,
  mapped,
  nested,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import {
  APPLICATION,
  type Application,
  applications,
  assignApplication,
  readApplicationUser,
  unassignApplication,
  usersOf,
} from './applications.ts'
import {
  GROUP,
  type Group,
  groups,
  membersOf,
  ORGANIZATION,
  putIntoGroup,
  takeFromGroup,
} from './groups.ts'
import { type Ctx, listing } from './service.ts'
import { customAttributes, readUser } from './users.ts'

type Association = Output<'find_entitlement_associations'>[number]

export const APPLICATION_ACCESS = 'APPLICATION_ACCESS'

/** Id of every application's only entitlement: access. */
const ACCESS = 'access'

/** Returns one page of applications. */
export const listResources = (ctx: Ctx): Promise<Paged<Output<'list_resources'>>> =>
  chain<Output<'list_resources'>[number]>(ctx, {
    applications: mapped(applications(ctx), ({ id, label, name, status }) => [
      {
        integration_specific_id: id,
        label,
        resource_type: APPLICATION,
        extra_data: { name, status },
      },
    ]),
  })

/** Returns one page of groups, followed by access to applications. */
export const listEntitlements = (
  request: Input<'list_entitlements'>,
  ctx: Ctx,
): Promise<Paged<Output<'list_entitlements'>>> =>
  chain<Output<'list_entitlements'>[number]>(ctx, {
    groups: mapped(groups(ctx), ({ id, type, profile }) => [
      {
        entitlement_type: GROUP,
        integration_specific_id: id,
        integration_specific_resource_id: ORGANIZATION,
        label: profile.name,
        description: profile.description || null,
        is_assignable: type === 'OKTA_GROUP',
        extra_data: { type },
        custom_attributes: request.custom_attributes?.length
          ? customAttributes(profile, request.custom_attributes)
          : null,
      },
    ]),
    applications: mapped(applications(ctx), ({ id, label, status }) => [
      {
        entitlement_type: APPLICATION_ACCESS,
        integration_specific_id: ACCESS,
        integration_specific_resource_id: id,
        label: `Access to ${label}`,
        is_assignable: status === 'ACTIVE',
      },
    ]),
  })

/** Returns one page of group members, followed by direct assignments of applications. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  chain<Association>(ctx, {
    groups: nested(groups(ctx), ({ id: group }) =>
      mapped(membersOf(ctx, group), ({ id }) => [inGroup(id, group)]),
    ),
    applications: nested(applications(ctx), ({ id: application }) =>
      mapped(usersOf(ctx, application), ({ id, scope }) =>
        scope === 'GROUP' ? [] : [inApplication(id, application)],
      ),
    ),
  })

/** Returns one page of one user's associations: groups, then applications. */
export async function getAccountAssociations(
  { account_id: id }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Paged<Association[]>> {
  if (ctx.page.cursor === null) await readUser(ctx, id)
  const query = { filter: `user.id eq ${JSON.stringify(id)}`, expand: `user/${id}` }
  return chain<Association>(ctx, {
    groups: mapped(listing<Group>(ctx, path`/users/${id}/groups`), (group) => [
      inGroup(id, group.id),
    ]),
    applications: mapped(listing<Application>(ctx, '/apps', query), async (application) => {
      const user =
        application._embedded?.user ?? (await readApplicationUser(ctx, application.id, id))
      return user === null || user.scope === 'GROUP' ? [] : [inApplication(id, application.id)]
    }),
  })
}

const inGroup = (account_id: string, group: string): Association => ({
  account_id,
  integration_specific_entitlement_id: group,
  integration_specific_resource_id: ORGANIZATION,
})

const inApplication = (account_id: string, application: string): Association => ({
  account_id,
  integration_specific_entitlement_id: ACCESS,
  integration_specific_resource_id: application,
})

/** Grants a group or access to an application. Granting it again changes nothing. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const { user, group, application } = requested(request)
  if (group !== null) await putIntoGroup(ctx, group, user)
  else await assignApplication({ application_instance_id: application, account_id: user }, ctx)
  return { assigned: true }
}

/** Revokes a group or access to an application. Revoking one that is not held is not an error. */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const { user, group, application } = requested(request)
  if (group !== null) await takeFromGroup(ctx, group, user)
  else await unassignApplication({ application_instance_id: application, account_id: user }, ctx)
  return { unassigned: true }
}

type Requested = { user: string } & (
  | { group: string; application: null }
  | { group: null; application: string }
)

function requested(request: Input<'assign_entitlement'>): Requested {
  const user = request.account_integration_specific_id
  const entitlement = request.entitlement_integration_specific_id
  const resource = request.resource_integration_specific_id
  const type = request.entitlement_type
  if (type === GROUP && resource === ORGANIZATION)
    return { user, group: entitlement, application: null }
  if (type === APPLICATION_ACCESS && entitlement === ACCESS && resource !== '')
    return { user, group: null, application: resource }
  throw new ConnectorError(
    'bad_request',
    `No such entitlement: write a ${GROUP} of the empty resource, or ${ACCESS} (${APPLICATION_ACCESS}) of an application`,
  )
}
