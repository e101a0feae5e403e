/**
 * Invitations by e-mail to people whose login is not known yet. The account id is `invitation:` and the
 * invitation's number (no login contains a colon). After acceptance, it is the login.
 */
import { ConnectorError, eachPage, path } from 'keyway/sdk'
import { type Ctx, listing, organization, service } from './service.ts'

export type Invitation = { id: number; login: string | null; email: string | null }

const PREFIX = 'invitation:'

/** Returns the account id of an invitation. */
export const invitationId = ({ id }: Invitation): string => PREFIX + id

/**
 * Returns the invitation with this account id, or null if the id is a login.
 *
 * @throws `not_found` if the invitation was accepted, declined or cancelled
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
