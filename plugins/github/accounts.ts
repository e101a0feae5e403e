/** Members of the organisation and outside collaborators of its repositories. */
import {
  allItems,
  ConnectorError,
  chain,
  type Input,
  ifThere,
  mapped,
  type Output,
  type Paged,
  path,
} from 'keyway/sdk'
import { readInvitation } from './invitations.ts'
import { type Ctx, listing, organization, service } from './service.ts'

type Account = Output<'get_account'>

/** User as returned by lists. */
export type User = { login: string; id: number; type?: string }

/** Further fields of a user's profile. The e-mail address is present only if its owner shows it. */
type Profile = { name?: string | null; email?: string | null; suspended_at?: string | null }

/** Membership of a person in the organisation. */
export type Membership = {
  state: 'active' | 'pending'
  role: 'admin' | 'member' | 'billing_manager'
  user: User
}

/** Returns one page of members, followed by outside collaborators. */
export const listAccounts = (ctx: Ctx): Promise<Paged<Account[]>> =>
  chain<Account>(ctx, {
    members: mapped(members(ctx), (user) => accountsOf(ctx, user, 'member')),
    outside: mapped(outsiders(ctx), (user) => accountsOf(ctx, user, 'outside_collaborator')),
  })

/** Returns one account: a member, an invited person, or an outside collaborator. */
export async function getAccount(
  request: Input<'get_account'>,
  ctx: Ctx,
): Promise<Output<'get_account'>> {
  const invitation = await readInvitation(ctx, request.account_id)
  if (invitation) {
    ctx.raw(invitation)
    return {
      integration_specific_id: request.account_id,
      email: invitation.email,
      username: invitation.login,
      user_status: 'PENDING',
    }
  }
  const { user, membership } = await readPerson(ctx, request.account_id)
  ctx.raw(membership ?? user)
  const relation = membership ? 'member' : 'outside_collaborator'
  const account = toAccount(user, relation, await readProfile(ctx, user))
  return membership?.state === 'pending' ? { ...account, user_status: 'PENDING' } : account
}

const members = (ctx: Ctx) => listing<User>(ctx, `${organization(ctx)}/members`)
const outsiders = (ctx: Ctx) => listing<User>(ctx, `${organization(ctx)}/outside_collaborators`)

/** Active or pending member, or an outside collaborator, who has no membership. */
export type Person = { user: User; membership: Membership | null }

/**
 * Returns the person with this login.
 *
 * @throws `not_found` if the person is neither a member nor an outside collaborator of the organisation
 */
export async function readPerson(ctx: Ctx, login: string): Promise<Person> {
  const membership = await readMembership(ctx, login)
  if (membership) return { user: membership.user, membership }
  const user = (await allItems(outsiders(ctx))).find((one) => sameLogin(one.login, login))
  if (user) return { user, membership: null }
  throw new ConnectorError(
    'not_found',
    `${login} is no member of ${ctx.settings.organization}, and no collaborator of its repositories`,
    { status_code: 404 },
  )
}

/** Returns a person's membership in the organisation, or null if there is none. */
export const readMembership = (ctx: Ctx, login: string): Promise<Membership | null> =>
  ifThere(service(ctx).get<Membership>(organization(ctx) + path`/memberships/${login}`))

/** Compares two logins, ignoring case. */
export const sameLogin = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase()

const readProfile = (ctx: Ctx, { login }: User): Promise<Profile | null> =>
  ctx.settings.read_profiles
    ? ifThere(service(ctx).get<Profile>(path`/users/${login}`))
    : Promise.resolve(null)

const accountsOf = async (ctx: Ctx, user: User, relation: string): Promise<Account[]> => [
  toAccount(user, relation, await readProfile(ctx, user)),
]

/** Converts a user to an account. GitHub Enterprise Server can suspend users; github.com cannot. */
const toAccount = ({ login, id, type }: User, relation: string, profile: Profile | null) => ({
  integration_specific_id: login,
  email: profile?.email || null,
  username: login,
  user_status: profile?.suspended_at ? ('SUSPENDED' as const) : ('ACTIVE' as const),
  account_type: type === 'Bot' ? ('service' as const) : ('user' as const),
  extra_data: {
    github_id: id,
    relation,
    ...(profile?.name ? { name: profile.name } : {}),
  },
})
