/** Entitlements and the resources that they belong to. */
import {
  allItems,
  ConnectorError,
  chain,
  keyPage,
  mapped,
  nested,
  type Output,
  type Paged,
} from 'keyway/sdk'
import { type Role, roles } from './admin-roles.ts'
import { GROUP_ROLES, type GroupRole, groups, isGroupRole } from './groups.ts'
import { idOf, type License, licenseOf, products, readSkus } from './licenses.ts'
import { type OrgUnit, readOrgUnits } from './org-units.ts'
import type { Ctx } from './service.ts'

/** Resource id of licences and of roles for the whole customer. */
export const EVERYTHING = ''

/** Id of an organisational unit's only entitlement that is not a role. */
export const PLACE = 'place'

type Entitlement = Output<'list_entitlements'>[number]
type Resource = Output<'list_resources'>[number]

/** Entitlement, decoded from a request. */
export type Grant =
  | { type: 'GROUP_ROLE'; group: string; role: GroupRole }
  | { type: 'ORG_UNIT_MEMBERSHIP'; orgUnit: string }
  | { type: 'LICENSE'; license: License }
  | { type: 'ADMIN_ROLE'; role: string; orgUnit: string }

/**
 * Decodes the type, id and resource of a requested entitlement.
 *
 * @throws `bad_request` if no such entitlement can exist
 */
export function grantOf(type: string, id: string, resource: string): Grant {
  const isGlobal = type === 'LICENSE' || type === 'ADMIN_ROLE'
  if (isGlobal && resource !== EVERYTHING) throw wrong(`a ${type} belongs to no resource`)
  if (!isGlobal && resource === EVERYTHING) throw wrong(`a ${type} belongs to a resource; name one`)
  if (id === '') throw wrong('an entitlement has an id')
  switch (type) {
    case 'GROUP_ROLE':
      if (!isGroupRole(id))
        throw wrong(`a role in a group is one of ${Object.keys(GROUP_ROLES).join(', ')}, not ${id}`)
      return { type, group: resource, role: id }
    case 'ORG_UNIT_MEMBERSHIP':
      if (id !== PLACE) throw wrong(`the one of each unit is ${PLACE}, not ${id}`)
      return { type, orgUnit: resource }
    case 'LICENSE':
      return { type, license: licenseOf(id) }
    case 'ADMIN_ROLE':
    case 'ORG_UNIT_ADMIN_ROLE':
      return { type: 'ADMIN_ROLE', role: id, orgUnit: resource }
    default:
      throw wrong(`there is no type ${type}`)
  }
}

const wrong = (why: string) => new ConnectorError('bad_request', `No such entitlement: ${why}`)

/** Returns one page of groups, followed by organisational units. */
export const listResources = (ctx: Ctx): Promise<Paged<Resource[]>> =>
  chain<Resource>(ctx, {
    groups: mapped(groups(ctx), (group) => [
      {
        integration_specific_id: group.id,
        label: group.name || group.email,
        resource_type: 'GROUP',
        description: group.description || null,
        extra_data: { email: group.email },
      },
    ]),
    units: async (at) => {
      const units = await readOrgUnits(ctx)
      const page = keyPage(at, units, ({ orgUnitId }) => orgUnitId)
      return { ...page, response: page.response.map(toResource) }
    },
  })

const toResource = (unit: OrgUnit): Resource => ({
  integration_specific_id: unit.orgUnitId,
  label: unit.orgUnitPath === '/' ? unit.name : unit.orgUnitPath,
  resource_type: 'ORG_UNIT',
  description: unit.description || null,
  extra_data: { path: unit.orgUnitPath, parent_path: unit.parentOrgUnitPath ?? '' },
})

/**
 * Returns one page of entitlements: group roles, organisational units, licences, then administrator roles for
 * the whole customer and for units.
 */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, {
    groups: mapped(groups(ctx), (group) =>
      Object.entries(GROUP_ROLES).map(([role, label]) => ({
        entitlement_type: 'GROUP_ROLE',
        integration_specific_id: role,
        integration_specific_resource_id: group.id,
        label: `${label} of ${group.name || group.email}`,
      })),
    ),
    units: async (at) => {
      const units = await readOrgUnits(ctx)
      return keyPage(
        at,
        units.map((unit) => ({
          entitlement_type: 'ORG_UNIT_MEMBERSHIP',
          integration_specific_id: PLACE,
          integration_specific_resource_id: unit.orgUnitId,
          label: `In ${unit.orgUnitPath}`,
        })),
        (one) => one.integration_specific_resource_id,
      )
    },
    licenses: nested(
      () => products(ctx),
      (product) => async (at) => {
        const skus = (await readSkus(ctx, product)).map(({ label, ...license }) => ({
          entitlement_type: 'LICENSE',
          integration_specific_id: idOf(license),
          integration_specific_resource_id: EVERYTHING,
          label,
        }))
        return keyPage(at, skus, (one) => one.integration_specific_id)
      },
    ),
    roles: mapped(roles(ctx), (role) => [roleEntitlement(role, null)]),
    unitRoles: async (at) => {
      if (!ctx.settings.admin_roles) return []
      const [all, units] = [await allItems(roles(ctx)), await readOrgUnits(ctx)]
      const narrow = all.filter((role) => !role.isSuperAdminRole)
      const found = units
        .filter(({ orgUnitPath }) => orgUnitPath !== '/')
        .flatMap((unit) => narrow.map((role) => roleEntitlement(role, unit)))
      return keyPage(
        at,
        found,
        (one) => `${one.integration_specific_resource_id} ${one.integration_specific_id}`,
      )
    },
  })

const roleEntitlement = (role: Role, unit: OrgUnit | null): Entitlement => ({
  entitlement_type: unit === null ? 'ADMIN_ROLE' : 'ORG_UNIT_ADMIN_ROLE',
  integration_specific_id: role.roleId,
  integration_specific_resource_id: unit?.orgUnitId ?? EVERYTHING,
  label: unit === null ? role.roleName : `${role.roleName} in ${unit.orgUnitPath}`,
  description: role.roleDescription || null,
})
