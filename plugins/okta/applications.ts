/** Applications, and who is assigned to them. */
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

/** A person in an application. `scope` says whether they were assigned themselves or by a group. */
export type ApplicationUser = {
  id: string
  scope?: 'USER' | 'GROUP'
  status?: string
  syncState?: string
  profile?: Profile
}

/** All applications. */
export const applications = (ctx: Ctx): Listing<Application> => listing<Application>(ctx, '/apps')

/** Everybody in an application, also by a group. */
export const usersOf = (ctx: Ctx, applicationId: string): Listing<ApplicationUser> =>
  listing<ApplicationUser>(ctx, path`/apps/${applicationId}/users`)

/** A person in an application, or null. */
export const readApplicationUser = (
  ctx: Ctx,
  applicationId: string,
  userId: string,
): Promise<ApplicationUser | null> =>
  ifThere(service(ctx).get<ApplicationUser>(path`/apps/${applicationId}/users/${userId}`))

/** One page of applications. */
export const listApplications = (ctx: Ctx): Promise<Paged<Output<'list_applications'>>> =>
  chain<Output<'get_application'>>(ctx, {
    applications: mapped(applications(ctx), (one) => [toApplication(one)]),
  })

/** One application by id. */
export async function getApplication(
  request: Input<'get_application'>,
  ctx: Ctx,
): Promise<Output<'get_application'>> {
  const application = await readApplication(ctx, request.application_instance_id)
  ctx.raw(application)
  return toApplication(application)
}

/** @throws not_found for an unknown id. */
export const readApplication = (ctx: Ctx, id: string): Promise<Application> =>
  service(ctx).get<Application>(path`/apps/${id}`)

/** People can be assigned themselves, and by groups and values of attributes. */
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

/** One page of who is in which application. */
export const listApplicationsAccounts = (
  ctx: Ctx,
): Promise<Paged<Output<'list_applications_accounts'>>> =>
  chain<Output<'get_application_account'>>(ctx, {
    accounts: nested(applications(ctx), ({ id }) =>
      mapped(usersOf(ctx, id), (user) => [toApplicationAccount(id, user)]),
    ),
  })

/** A person in an application. */
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

/** Okta's words for the state of an assignment; the others all mean that it is in use. */
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
 * Assigns an application to a person themselves, also to who has it by a group. It is provisioned when
 * Okta keeps an account in it.
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
 * Takes an application from a person; taking what is not held is no error.
 *
 * @throws unsupported_operation where a group gives it.
 */
export async function unassignApplication(
  { application_instance_id, account_id }: Input<'unassign_application'>,
  ctx: Ctx,
): Promise<Output<'unassign_application'>> {
  const held = await readApplicationUser(ctx, application_instance_id, account_id)
  if (held === null) {
    // Okta does not tell whether it is the application, the user or the assignment that is missing.
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
