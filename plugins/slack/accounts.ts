/** Users and bots of the workspace. */
import { type Input, type Output, type Paged, paged } from 'keyway/sdk'
import { type Ctx, call, listing, type PagedListing } from './service.ts'

type Profile = {
  email?: string
  real_name?: string
  first_name?: string
  last_name?: string
  display_name?: string
  [field: string]: unknown
}

/** User, with the fields that the connector reads. Slack may omit those that are false. */
export type User = {
  id: string
  name?: string
  real_name?: string
  tz?: string
  deleted?: boolean
  is_primary_owner?: boolean
  is_owner?: boolean
  is_admin?: boolean
  /** Guest. A single-channel guest has `is_ultra_restricted` as well. */
  is_restricted?: boolean
  is_ultra_restricted?: boolean
  is_invited_user?: boolean
  is_stranger?: boolean
  is_bot?: boolean
  profile?: Profile
}

type Account = Output<'get_account'>

const CUSTOM = {
  title: 'What a user does',
  phone: 'Telephone number',
  display_name: 'The name that is shown',
  pronouns: 'Pronouns',
  tz: 'Time zone, such as Europe/Amsterdam',
}

/**
 * Returns the profile attributes in the list of users. Fields that a workspace defines are not among them.
 */
export const listCustomAttributes = (): Output<'list_custom_attributes_schema'> =>
  Object.entries(CUSTOM).map(([name, description]) => ({
    customized_type: 'ACCOUNT',
    name,
    attribute_type: 'STRING',
    description,
  }))

/** Lists the users of the workspace, without strangers from shared channels. */
export const users =
  (ctx: Ctx): PagedListing<User> =>
  async (at) => {
    const { response, cursor } = await listing<User>(ctx, 'users.list', 'members')(at)
    return paged(
      response.filter((user) => user.is_stranger !== true),
      cursor,
    )
  }

/** Returns one page of users. */
export async function listAccounts(
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Paged<Output<'list_accounts'>>> {
  const page = await users(ctx)(ctx.page)
  ctx.raw(page.response)
  return paged(
    page.response.map((user) => toAccount(user, request.custom_attributes)),
    page.cursor,
  )
}

/** Returns one account by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const user = await readUser(ctx, request.account_id)
  ctx.raw(user)
  return toAccount(user, request.custom_attributes)
}

/**
 * Returns one user by id.
 *
 * @throws `not_found` if the id is unknown
 */
export const readUser = async (ctx: Ctx, id: string): Promise<User> =>
  (await call<{ user: User }>(ctx, 'users.info', { user: id })).user

/**
 * Returns the status of a user. A deactivated user can be activated again. An invited user has not signed in
 * yet.
 */
function statusOf({ deleted, is_invited_user }: User): 'ACTIVE' | 'SUSPENDED' | 'PENDING' {
  if (deleted) return 'SUSPENDED'
  return is_invited_user ? 'PENDING' : 'ACTIVE'
}

/** Reports whether a user is a bot. Slackbot is not marked as one. */
export const isBot = ({ id, is_bot }: User): boolean => is_bot === true || id === 'USLACKBOT'

function toAccount(user: User, attributes: readonly string[] = []): Account {
  const { profile = {} } = user
  return {
    integration_specific_id: user.id,
    email: profile.email || null,
    given_name: profile.first_name || null,
    family_name: profile.last_name || null,
    username: user.name ?? null,
    user_status: statusOf(user),
    account_type: isBot(user) ? 'service' : 'user',
    extra_data: { display_name: profile.real_name || user.real_name || user.name || null },
    custom_attributes: attributes.length === 0 ? null : customOf(user, attributes),
  }
}

function customOf(user: User, names: readonly string[]): Record<string, string> {
  const fields: Record<string, unknown> = { ...user.profile, tz: user.tz }
  const found = names.flatMap((name) => {
    const value = Object.hasOwn(CUSTOM, name) ? fields[name] : undefined
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : []
  })
  return Object.fromEntries(found)
}
