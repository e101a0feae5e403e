/** A user of Okta and the account that it is. */
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

/** Who still has something to do before they can sign in is PENDING. */
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
 * The account's status.
 *
 * @throws unknown_value for a status that Okta has added since.
 */
export function statusOf({ status }: Pick<User, 'status'>): AccountStatus {
  if (Object.hasOwn(STATUSES, status)) return STATUSES[status]
  throw new ConnectorError('unknown_value', `Okta has a status ${status} that is not known here`)
}

/** The account, with those of the named attributes that the profile has. */
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

/** Attributes of a profile by name, as text; what it does not have, or has several of, is left out. */
export const customAttributes = (profile: Profile, names: readonly string[]) =>
  Object.fromEntries(
    names
      .map((name) => [name, Object.hasOwn(profile, name) ? profile[name] : undefined] as const)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([name, value]) => [name, String(value)]),
  )

/**
 * One user by id. Okta takes user names and `me` for ids, too: they are none here, because what is
 * changed by one would be another person's tomorrow.
 *
 * @throws not_found for an unknown id.
 */
export async function readUser(ctx: Ctx, id: string): Promise<User> {
  const user = await service(ctx).get<User>(path`/users/${id}`)
  if (user.id === id) return user
  throw new ConnectorError('not_found', `There is no user with the id ${JSON.stringify(id)}`)
}
