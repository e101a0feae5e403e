/**
 * Invitations by e-mail: a person without a login, as yet. Their account is known by `invitation:` and
 * the invitation's number (no login has a colon), and by the login once they have accepted.
 */
import { ConnectorError, eachPage, path } from 'keyway/sdk'
import { type Ctx, listing, organization, service } from './service.ts'

export type Invitation = { id: number; login: string | null; email: string | null }

const PREFIX = 'invitation:'

/** The account's id of an invitation. */
export const invitationId = ({ id }: Invitation): string => PREFIX + id

/**
 * The invitation that an account's id names, or null where it names a login.
 *
 * @throws not_found when it was accepted, declined or cancelled.
 */
export async function readInvitation(ctx: Ctx, accountId: string): Promise<Invitation | null> {
  if (!accountId.startsWith(PREFIX)) return null
  const invitations = listing<Invitation>(ctx, `${organization(ctx)}/invitations`)
  for await (const page of eachPage(invitations)) {
    const found = page.find((one) => invitationId(one) === accountId)
    if (found) return found
  }
  throw new ConnectorError('not_found', `There is no ${accountId} any more`, { status_code: 404 })
}

/** Invites an e-mail address. */
export const invite = (ctx: Ctx, email: string, role: 'admin' | 'member'): Promise<Invitation> =>
  service(ctx).post<Invitation>(`${organization(ctx)}/invitations`, {
    email,
    role: role === 'admin' ? 'admin' : 'direct_member',
  })

/** Cancels an invitation. */
export async function cancel(ctx: Ctx, { id }: Invitation): Promise<void> {
  await service(ctx).delete(organization(ctx) + path`/invitations/${id}`)
}
