/** Users of Okta and their conversion to accounts. */
import { ConnectorError, type Output, path } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'

export type UserStatus =
  | 'ACTIVE'
  | 'STAGED'
  | 'PROVISIONED'
  | 'RECOVERY'
  | 'PASSWORD_EXPIRED'
  | 'LOCKED_OUT'
  | 'SUSPENDED'
  | 'DEPROVISIONED'

export type Profile = { [attribute: string]: unknown }

export type User = {
  id: string
  status: UserStatus
  lastLogin?: string | null
  profile: Profile
}

type Account = Output<'get_account'>
type AccountStatus = NonNullable<Account['user_status']>

/** Account statuses by Okta's status. A person who must act before they can sign in is PENDING. */
const STATUSES: Record<UserStatus, AccountStatus> = {
  ACTIVE: 'ACTIVE',
  STAGED: 'PENDING',
  PROVISIONED: 'PENDING',
  RECOVERY: 'PENDING',
  PASSWORD_EXPIRED: 'PENDING',
  LOCKED_OUT: 'SUSPENDED',
  SUSPENDED: 'SUSPENDED',
  DEPROVISIONED: 'DEPROVISIONED',
}

/**
 * Returns the status of an account.
 *
 * @throws `unknown_value` for a status that Okta has added since
 */
export function statusOf({ status }: Pick<User, 'status'>): AccountStatus {
  if (Object.hasOwn(STATUSES, status)) return STATUSES[status]
  throw new ConnectorError('unknown_value', `Okta has a status ${status} that is not known here`)
}

/** Converts a user to an account, with those of the named attributes that the profile has. */
export function toAccount(user: User, attributes: readonly string[] = []): Account {
  const { profile } = user
  return {
    integration_specific_id: user.id,
    email: text(profile['email']),
    given_name: text(profile['firstName']),
    family_name: text(profile['lastName']),
    username: text(profile['login']),
    user_status: statusOf(user),
    extra_data: { status: user.status },
    custom_attributes: attributes.length === 0 ? null : customAttributes(profile, attributes),
  }
}

const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** Returns attributes of a profile as text, by name. Missing and multi-valued attributes are left out. */
export const customAttributes = (profile: Profile, names: readonly string[]) =>
  Object.fromEntries(
    names
      .map((name) => [name, Object.hasOwn(profile, name) ? profile[name] : undefined] as const)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([name, value]) => [name, String(value)]),
  )

/**
 * Returns one user by id. Okta also accepts user names and `me` in place of an id. These are refused, because
 * they may denote another person later.
 *
 * @throws `not_found` if the id is unknown
 */
export async function readUser(ctx: Ctx, id: string): Promise<User> {
  const user = await service(ctx).get<User>(path`/users/${id}`)
  if (user.id === id) return user
  throw new ConnectorError('not_found', `There is no user with the id ${JSON.stringify(id)}`)
}
