/** Creates and updates people. */
import { ConnectorError, type Input, type Output, path } from 'keyway/sdk'
import { type Ctx, service } from './service.ts'
import { type Profile, readUser, statusOf, type User } from './users.ts'

/** Okta's profile attributes by the names of our fields. */
const ATTRIBUTES = {
  username: 'login',
  email: 'email',
  given_name: 'firstName',
  family_name: 'lastName',
  display_name: 'displayName',
  title: 'title',
  department: 'department',
  organization: 'organization',
  user_type: 'userType',
  employee_number: 'employeeNumber',
  manager_id: 'managerId',
  mobile_phone: 'mobilePhone',
  second_email: 'secondEmail',
} as const

/** Fields of a request. Those beyond the contract's are declared in connector.json. */
type Fields = { readonly [field: string]: unknown }

/**
 * Creates a person. With a password they are active immediately. Without one, Okta sends them an e-mail.
 *
 * @throws `api_error` with Okta's code E0000001 if the user name or the address is taken
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  if (request.entitlements.length > 0)
    throw new ConnectorError(
      'bad_request',
      'A new account takes no entitlements: assign groups and applications with assign_entitlement afterwards',
    )
  const login = request.username ?? request.email
  if (!login)
    throw new ConnectorError('integration_missing_parameter', 'username or email is required')
  const profile = { ...profileOf(request), login, email: request.email ?? login }
  const query = { activate: isToBeActive(request.user_status) }
  try {
    const body = { profile, ...credentialsOf(request) }
    const user = await service(ctx).post<User>('/users', body, { query })
    ctx.raw(user)
    return { status: statusOf(user), created: true, id: user.id }
  } catch (error) {
    throw withTakenName(error)
  }
}

const profileOf = (request: Fields): Profile =>
  Object.fromEntries(
    Object.entries(ATTRIBUTES)
      .filter(([field]) => request[field] !== undefined)
      .map(([field, attribute]) => [attribute, request[field]]),
  )

const credentialsOf = ({ password }: Fields) =>
  password === undefined ? {} : { credentials: { password: { value: password } } }

function isToBeActive(status: string | undefined): boolean {
  const word = (status ?? 'ACTIVE').toUpperCase()
  if (word === 'ACTIVE') return true
  if (word === 'PENDING' || word === 'STAGED') return false
  throw new ConnectorError(
    'invalid_value',
    `user_status must be ACTIVE or PENDING, not ${JSON.stringify(status)}`,
  )
}

/**
 * Converts the error for a taken name. Okta answers 400 and E0000001 for every invalid profile, so only the
 * message distinguishes it.
 */
function withTakenName(error: unknown): unknown {
  const { app_error_code, message }: Record<string, unknown> = Object(error)
  return app_error_code === 'E0000001' && /already exists/i.test(String(message))
    ? new ConnectorError('api_error', String(message), Object(error))
    : error
}

/** Changes the given attributes, keeps the others, and returns the given ones without the password. */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'> & Fields> {
  const { password: _secret, ...changed } = request
  const profile = profileOf(request)
  const changes = {
    ...(Object.keys(profile).length > 0 ? { profile } : {}),
    ...credentialsOf(request),
  }
  if (Object.keys(changes).length === 0) {
    const fields = [...Object.keys(ATTRIBUTES), 'password'].join(', ')
    throw new ConnectorError('bad_request', `Nothing to change. Give one of: ${fields}`)
  }
  const { id } = await readUser(ctx, request.id)
  try {
    ctx.raw(await service(ctx).post<never>(path`/users/${id}`, changes))
  } catch (error) {
    throw withTakenName(error)
  }
  return changed
}
