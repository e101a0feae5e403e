/** Applications and their assigned users. */
import {
  ConnectorError,
  chain,
  type Input,
  ifThere,
  type Listing,
  mapped,
  nested,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { type Ctx, listing, service } from './service.ts'
import { type Profile, readUser } from './users.ts'

export const APPLICATION = 'APPLICATION'

type Link = { href?: string }

export type Application = {
  id: string
  name: string
  label: string
  status: 'ACTIVE' | 'INACTIVE' | 'DELETED'
  signOnMode?: string | null
  _links?: { logo?: Link[]; appLinks?: Link[] }
  _embedded?: { user?: ApplicationUser }
}

/** User of an application. `scope` says whether the assignment is direct or through a group. */
export type ApplicationUser = {
  id: string
  scope?: 'USER' | 'GROUP'
  status?: string
  syncState?: string
  profile?: Profile
}

/** Lists all applications. */
export const applications = (ctx: Ctx): Listing<Application> => listing<Application>(ctx, '/apps')

/** Lists all users of an application, including those assigned through a group. */
export const usersOf = (ctx: Ctx, applicationId: string): Listing<ApplicationUser> =>
  listing<ApplicationUser>(ctx, path`/apps/${applicationId}/users`)

/** Returns a user of an application, or null if there is none. */
export const readApplicationUser = (
  ctx: Ctx,
  applicationId: string,
  userId: string,
): Promise<ApplicationUser | null> =>
  ifThere(service(ctx).get<ApplicationUser>(path`/apps/${applicationId}/users/${userId}`))

/** Returns one page of applications. */
export const listApplications = (ctx: Ctx): Promise<Paged<Output<'list_applications'>>> =>
  chain<Output<'get_application'>>(ctx, {
    applications: mapped(applications(ctx), (one) => [toApplication(one)]),
  })

/** Returns one application by id. */
export async function getApplication(
  request: Input<'get_application'>,
  ctx: Ctx,
): Promise<Output<'get_application'>> {
  const application = await readApplication(ctx, request.application_instance_id)
  ctx.raw(application)
  return toApplication(application)
}

/**
 * Reads one application.
 *
 * @throws `not_found` if the id is unknown
 */
export const readApplication = (ctx: Ctx, id: string): Promise<Application> =>
  service(ctx).get<Application>(path`/apps/${id}`)

/** Converts an application. It can be assigned directly, and through groups and attribute values. */
const toApplication = (one: Application): Output<'get_application'> => ({
  id: one.id,
  name: one.name,
  display_name: one.label,
  status: one.status === 'ACTIVE' ? 'ACTIVE' : 'INACTIVE',
  sign_on_mode: one.signOnMode ?? 'UNKNOWN',
  assignment_modes: ['ACCOUNT', 'ENTITLEMENT'],
  logo: one._links?.logo?.[0]?.href ?? null,
  sso_login_url: one._links?.appLinks?.[0]?.href ?? null,
})

/** Returns one page of the users of applications. */
export const listApplicationsAccounts = (
  ctx: Ctx,
): Promise<Paged<Output<'list_applications_accounts'>>> =>
  chain<Output<'get_application_account'>>(ctx, {
    accounts: nested(applications(ctx), ({ id }) =>
      mapped(usersOf(ctx, id), (user) => [toApplicationAccount(id, user)]),
    ),
  })

/** Returns one user of an application. */
export async function getApplicationAccount(
  { application_instance_id, account_id }: Input<'get_application_account'>,
  ctx: Ctx,
): Promise<Output<'get_application_account'>> {
  const address = path`/apps/${application_instance_id}/users/${account_id}`
  const user = await service(ctx).get<ApplicationUser>(address)
  ctx.raw(user)
  return toApplicationAccount(application_instance_id, user)
}

const toApplicationAccount = (
  application_instance_id: string,
  user: ApplicationUser,
): Output<'get_application_account'> => ({
  account_id: user.id,
  application_instance_id,
  status: STATUSES[user.status ?? 'ACTIVE'] ?? 'ACTIVE',
})

/** Statuses by Okta's status of an assignment. All others mean that the assignment is active. */
const STATUSES: Record<string, Output<'get_application_account'>['status']> = {
  STAGED: 'PENDING',
  PENDING: 'PENDING',
  SUSPENDED: 'SUSPENDED',
  INACTIVE: 'INACTIVE',
  DEPROVISIONED: 'DEPROVISIONED',
  REVOKED: 'DEPROVISIONED',
  UNASSIGNED: 'DEPROVISIONED',
}

/**
 * Assigns an application directly to a user, even if the user has it through a group. It is provisioned if
 * Okta manages an account in the application.
 */
export async function assignApplication(
  { application_instance_id, account_id }: Input<'assign_application'>,
  ctx: Ctx,
): Promise<Output<'assign_application'>> {
  const held = await readApplicationUser(ctx, application_instance_id, account_id)
  const user =
    held?.scope === 'USER'
      ? held
      : await service(ctx).post<ApplicationUser>(path`/apps/${application_instance_id}/users`, {
          id: account_id,
          scope: 'USER',
        })
  const provisioned = user.status === 'PROVISIONED' || user.syncState === 'SYNCHRONIZED'
  return { assigned: true, provisioned }
}

/**
 * Revokes a direct assignment. Revoking one that is not held is not an error.
 *
 * @throws `unsupported_operation` if the assignment comes from a group
 */
export async function unassignApplication(
  { application_instance_id, account_id }: Input<'unassign_application'>,
  ctx: Ctx,
): Promise<Output<'unassign_application'>> {
  const held = await readApplicationUser(ctx, application_instance_id, account_id)
  if (held === null) {
    // Okta does not say whether the application, the user or the assignment is missing.
    await readApplication(ctx, application_instance_id)
    await readUser(ctx, account_id)
  } else if (held.scope === 'GROUP') {
    throw new ConnectorError(
      'unsupported_operation',
      'A group gives this application: take the group from the account instead',
    )
  } else {
    await service(ctx).delete(path`/apps/${application_instance_id}/users/${account_id}`)
  }
  return { unassigned: true }
}
