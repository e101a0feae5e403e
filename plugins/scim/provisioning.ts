/** Creates, updates and deletes accounts. */
import { ConnectorError, type Input, type Json, type Output, path, startsActive } from 'keyway/sdk'
import { readUser } from './accounts.ts'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, type PatchOperation, patch, service } from './service.ts'
import {
  type Email,
  ENTERPRISE_SCHEMA,
  idOf,
  mainEmail,
  statusOf,
  USER_SCHEMA,
  type User,
} from './users.ts'

/** SCIM attribute paths by the names of our fields. */
const ATTRIBUTES = {
  username: 'userName',
  given_name: 'name.givenName',
  family_name: 'name.familyName',
  display_name: 'displayName',
  title: 'title',
  external_id: 'externalId',
  department: `${ENTERPRISE_SCHEMA}:department`,
} as const

/** Fields of a request. Those beyond the contract's are declared in connector.json. */
type Fields = { readonly [field: string]: unknown }

/**
 * Creates a user. The user name defaults to the e-mail address. Groups are assigned afterwards: none is
 * required (their type's `min` is 0).
 */
export async function createAccount(
  request: Input<'create_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'create_account'>> {
  if (request.entitlements.length > 0) {
    throw new ConnectorError(
      'bad_request',
      'A new account takes no entitlements: assign groups with assign_entitlement afterwards',
    )
  }
  const userName = request.username ?? request.email
  if (userName === undefined) {
    throw new ConnectorError('integration_missing_parameter', 'username or email is required')
  }
  const user = await service(ctx).post<User | undefined>('/Users', newUser(request, userName))
  ctx.raw(user ?? null)
  return {
    status: statusOf(user ?? {}),
    created: true,
    id: user?.id === undefined ? null : idOf(user),
  }
}

function newUser(request: Input<'create_account'> & Fields, userName: string) {
  const { email, given_name: givenName, family_name: familyName } = request
  const { department, display_name: displayName, title, external_id: externalId } = request
  const named = givenName !== undefined || familyName !== undefined
  return {
    schemas: department === undefined ? [USER_SCHEMA] : [USER_SCHEMA, ENTERPRISE_SCHEMA],
    userName,
    ...(named ? { name: { givenName, familyName } } : {}),
    ...(email === undefined ? {} : { emails: [{ value: email, type: 'work', primary: true }] }),
    active: startsActive(request.user_status),
    displayName,
    title,
    externalId,
    ...(department === undefined ? {} : { [ENTERPRISE_SCHEMA]: { department } }),
  }
}

/** Replaces the given attributes, keeps the others, and returns the request. */
export async function updateAccount(
  request: Input<'update_account'> & Fields,
  ctx: Ctx,
): Promise<Output<'update_account'> & Fields> {
  const operations: PatchOperation[] = Object.entries(ATTRIBUTES).flatMap(([field, attribute]) =>
    request[field] === undefined
      ? []
      : // The cast is safe: the request was parsed from JSON.
        [{ op: 'replace', path: attribute, value: request[field] as Json }],
  )
  if (typeof request['email'] === 'string') {
    const { emails } = await readUser(ctx, request.id)
    operations.push({ op: 'replace', path: 'emails', value: withMain(emails, request['email']) })
  }
  if (operations.length === 0) {
    const fields = Object.keys({ ...ATTRIBUTES, email: '' }).join(', ')
    throw new ConnectorError('bad_request', `Nothing to change. Give one of: ${fields}`)
  }
  ctx.raw((await patch<Json>(ctx, path`/Users/${request.id}`, operations)) ?? null)
  return { ...request }
}

/** Returns the e-mail addresses with the main one changed. */
function withMain(given: Email[] | null | undefined, value: string): Email[] {
  const emails = given ?? []
  const main = mainEmail(emails)
  if (main === undefined) return [{ value, type: 'work', primary: true }]
  return emails.map((one) => (one === main ? { ...one, value } : one))
}

/**
 * Deletes a user permanently.
 *
 * @throws `unsupported_operation` for the account whose token is used
 */
export async function deleteAccount(
  { account_id: id }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const address = path`/Users/${id}`
  await refuseOwnAccount(ctx, id, 'is deleted')
  await service(ctx).delete(address)
  return { status: 'DELETED', deleted: true }
}
