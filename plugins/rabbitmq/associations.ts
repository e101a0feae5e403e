/** Associations of users with entitlements. */
import { chain, type Input, keyPage, type Output, type Paged, path } from 'keyway/sdk'
import { readUser, USER, type User } from './accounts.ts'
import { CLUSTER, operationsOf, type Permission } from './entitlements.ts'
import { type Ctx, readList, service } from './service.ts'

type Association = Output<'find_entitlement_associations'>[number]

/** Returns one page of the tags of users, followed by permissions. */
export const findAssociations = (ctx: Ctx): Promise<Paged<Association[]>> =>
  chain<Association>(ctx, {
    tags: async (at) => {
      const users = await readList<User>(ctx, '/users', USER)
      return keyPage(at, users.flatMap(tagsOf), keyOf)
    },
    permissions: async (at) => {
      const permissions = await readList<Permission>(ctx, '/permissions', PERMISSION_COLUMNS)
      return keyPage(at, permissions.flatMap(permissionsOf), keyOf)
    },
  })

/** Returns all associations of one user. */
export async function getAccountAssociations(
  { account_id: name }: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Association[]> {
  const user = await readUser(ctx, name)
  const permissions = await service(ctx).get<Permission[]>(path`/users/${name}/permissions`)
  ctx.raw({ user, permissions })
  return [...tagsOf(user), ...permissions.flatMap(permissionsOf)]
}

const PERMISSION_COLUMNS: (keyof Permission)[] = ['user', 'vhost', 'configure', 'write', 'read']

const tagsOf = ({ name, tags }: User): Association[] =>
  // The server does not remove duplicate tags.
  [...new Set(tags)].map((tag) => ({
    account_id: name,
    integration_specific_entitlement_id: tag,
    integration_specific_resource_id: CLUSTER,
  }))

const permissionsOf = (permission: Permission): Association[] =>
  operationsOf(permission).map((operation) => ({
    account_id: permission.user,
    integration_specific_entitlement_id: operation,
    integration_specific_resource_id: permission.vhost,
  }))

const keyOf = (one: Association): string =>
  JSON.stringify([
    one.account_id,
    one.integration_specific_resource_id,
    one.integration_specific_entitlement_id,
  ])
