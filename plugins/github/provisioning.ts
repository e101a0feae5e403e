/** Invites and removes people. */
import { ConnectorError, type Input, type Output, path } from 'keyway/sdk'
import { type Membership, readMembership, readPerson } from './accounts.ts'
import { MEMBERSHIP, type MembershipRole, membershipRole } from './entitlements.ts'
import { cancel, invitationId, invite, readInvitation } from './invitations.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, organization, service } from './service.ts'

/**
 * Invites a person, by `username` if given, else by `email`. The membership is `member` unless the
 * entitlements name another one.
 *
 * @throws `api_error` with the code `already_member` if the person is a member or was invited
 */
export async function createAccount(
  request: Input<'create_account'>,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  const role = roleFor(request.entitlements)
  if (request.username) return inviteLogin(ctx, request.username, role)
  if (!request.email)
    throw new ConnectorError('integration_missing_parameter', 'username or email is required')
  try {
    const invitation = await invite(ctx, request.email, role)
    ctx.raw(invitation)
    return { status: 'PENDING', created: true, id: invitationId(invitation) }
  } catch (error) {
    throw alreadyThere(error)
  }
}

async function inviteLogin(
  ctx: Ctx,
  login: string,
  role: MembershipRole,
): Promise<Output<'create_account'>> {
  // Check first: a PUT for an existing member would change the membership.
  const held = await readMembership(ctx, login)
  if (held) throw already(`${login} is a member already, or was invited`, 200)
  const address = organization(ctx) + path`/memberships/${login}`
  const { user, state } = await service(ctx).put<Membership>(address, { role })
  ctx.raw({ login: user.login, state })
  return { status: state === 'active' ? 'ACTIVE' : 'PENDING', created: true, id: user.login }
}

/**
 * Returns the membership role of a new account. Only memberships can be given on creation: no other
 * entitlement type has a `min` above 0.
 */
function roleFor(entitlements: Input<'create_account'>['entitlements']): MembershipRole {
  const [first, ...others] = entitlements
  if (first === undefined) return 'member'
  if (others.length > 0 || first.entitlement_type !== MEMBERSHIP)
    throw new ConnectorError(
      'bad_request',
      `A new account takes one ${MEMBERSHIP} at most: assign all else with assign_entitlement afterwards`,
    )
  return membershipRole(first.integration_specific_id)
}

/**
 * Converts the error of an invitation. GitHub answers 422 both for an invalid address and for an existing
 * member.
 */
function alreadyThere(error: unknown): unknown {
  const { status_code, message }: { status_code?: unknown; message?: unknown } = Object(error)
  return status_code === 422 && /already/i.test(String(message))
    ? already(String(message), 422)
    : error
}

const already = (message: string, status_code: number) =>
  new ConnectorError('api_error', message, { status_code, app_error_code: 'already_member' })

/**
 * Removes a person from the organisation: a membership with all its teams and repositories, an invitation, or
 * the access of an outside collaborator.
 *
 * @throws `unsupported_operation` for the person whose token is used
 */
export async function deleteAccount(
  { account_id }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const invitation = await readInvitation(ctx, account_id)
  if (invitation) await cancel(ctx, invitation)
  else await remove(ctx, account_id)
  return { status: 'DELETED', deleted: true }
}

async function remove(ctx: Ctx, login: string): Promise<void> {
  const { membership } = await readPerson(ctx, login)
  await refuseOwnAccount(ctx, login, 'is removed')
  const list =
    membership === null
      ? path`/outside_collaborators/${login}`
      : membership.state === 'pending'
        ? path`/memberships/${login}`
        : path`/members/${login}`
  await service(ctx).delete(organization(ctx) + list)
}
