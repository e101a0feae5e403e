/** Creates, updates and deletes users, and transfers their data. */
import {
  allItems,
  allOrNothing,
  ConnectorError,
  hasCode,
  type Input,
  type Json,
  type Output,
  path,
  randomPassword,
  startsActive,
} from 'keyway/sdk'
import { grantOf } from './entitlements.ts'
import { give } from './grants.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, customer, dataTransfer, directory, listing } from './service.ts'
import { mainOrganization, readUser, statusOf, type User } from './users.ts'

/** Fields that connector.json adds to the request. */
type Fields = { readonly [field: string]: unknown }

/**
 * Creates a user with all of its entitlements. If one cannot be granted, the user is deleted again.
 *
 * @throws `api_error` with the status 409 and the code `duplicate` if the address is taken
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const email = request.email ?? request.username
  if (!email || !request.given_name || !request.family_name)
    throw new ConnectorError(
      'integration_missing_parameter',
      'email, given_name and family_name are required',
    )
  const grants = request.entitlements.map((one) =>
    grantOf(
      one.entitlement_type,
      one.integration_specific_id,
      one.integration_specific_resource_id ?? '',
    ),
  )
  return allOrNothing(async (undo) => {
    const user = await directory(ctx).post<User>('/users', {
      primaryEmail: email,
      name: { givenName: request.given_name, familyName: request.family_name },
      // Google requires a password. A random one that is not disclosed admits no one.
      password: request['password'] ?? randomPassword(),
      changePasswordAtNextLogin: request['password'] !== undefined,
      suspended: !startsActive(request.user_status),
      orgUnitPath: request['org_unit_path'],
      organizations: organizationsOf([], request),
    })
    undo(`the user ${user.id}`, () => directory(ctx).delete(path`/users/${user.id}`))
    for (const grant of grants) await give(ctx, user.id, grant)
    ctx.raw(user)
    return { status: statusOf(user), created: true, id: user.id }
  })
}

/**
 * Returns the list of organisations with the main one changed, or undefined if there is no change. Google
 * replaces the whole list.
 */
function organizationsOf(before: NonNullable<User['organizations']>, request: Fields) {
  const { title, department } = request
  if (title === undefined && department === undefined) return undefined
  const main = mainOrganization({ organizations: before }) ?? { primary: true }
  const after = {
    ...main,
    ...(title === undefined ? {} : { title }),
    ...(department === undefined ? {} : { department }),
  }
  return [after, ...before.filter((one) => one !== main)]
}

/** Changes the given fields and keeps the others. */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'>> {
  const { email, given_name, family_name, org_unit_path, password } = request
  const name = {
    ...(given_name === undefined ? {} : { givenName: given_name }),
    ...(family_name === undefined ? {} : { familyName: family_name }),
  }
  const isInJob = request['title'] !== undefined || request['department'] !== undefined
  const before = isInJob ? await readUser(ctx, request.id) : null
  const changes = {
    primaryEmail: email,
    name: Object.keys(name).length === 0 ? undefined : name,
    orgUnitPath: org_unit_path,
    password,
    organizations: before ? organizationsOf(before.organizations ?? [], request) : undefined,
  }
  if (Object.values(changes).every((one) => one === undefined))
    throw new ConnectorError('bad_request', 'Nothing to change: give one of the fields')
  ctx.raw(await directory(ctx).patch<Json>(path`/users/${request.id}`, changes))
  return { id: request.id }
}

/**
 * Deletes a user. An administrator can restore it for twenty days.
 *
 * @throws `unsupported_operation` for the administrator that the connector acts for
 */
export async function deleteAccount(
  { account_id }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const address = path`/users/${account_id}`
  await refuseOwnAccount(ctx, account_id, 'is deleted')
  await directory(ctx).delete(address)
  return { status: 'DELETED', deleted: true }
}

type Application = {
  id: string
  name: string
  transferParams?: { key: string; value?: string[] }[]
}

/**
 * Requests the transfer of all of one user's data to another user, in every application that supports it.
 * Google completes it within hours.
 */
export async function transferData(
  { source_account_id, target_account_id }: Input<'transfer_data'>,
  ctx: Ctx,
): Promise<Output<'transfer_data'>> {
  const [from, to] = [
    await readUser(ctx, source_account_id),
    await readUser(ctx, target_account_id),
  ]
  const customerId = customer(ctx)
  const applications = await allItems(
    listing<Application>(dataTransfer(ctx), {
      path: '/applications',
      items: 'applications',
      most: 500,
      query: { customerId },
    }),
  )
  try {
    const transfer = await dataTransfer(ctx).post<Json>('/transfers', {
      oldOwnerUserId: from.id,
      newOwnerUserId: to.id,
      applicationDataTransfers: applications.map(({ id, transferParams = [] }) => ({
        applicationId: id,
        applicationTransferParams: transferParams,
      })),
    })
    ctx.raw(transfer)
    return { success: true }
  } catch (error) {
    if (!hasCode(error, 'bad_request')) throw error
    return { success: false, reason: error.message }
  }
}
