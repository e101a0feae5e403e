/** Reads accounts. */
import {
  firstOf,
  type Input,
  type LdapEntry,
  type Output,
  type Paged,
  paged,
  textsOf,
} from 'keyway/sdk'
import { expiryOf, isDisabled, isExpired, isLocked, STATE_ATTRIBUTES } from './control.ts'
import { type Ctx, findPage, idOf, readEntry, sidOf } from './directory.ts'

type Account = Output<'get_account'>

/** Attributes that callers may request. All are text, and none holds a secret. */
const CUSTOM = {
  cn: 'Full name',
  displayName: 'Display name',
  userPrincipalName: 'User principal name',
  title: 'Job title',
  department: 'Department',
  company: 'Company',
  division: 'Division',
  employeeID: 'Employee id',
  employeeNumber: 'Employee number',
  employeeType: 'Kind of employment',
  telephoneNumber: 'Telephone number',
  mobile: 'Mobile number',
  physicalDeliveryOfficeName: 'Office',
  l: 'Place',
  c: 'Country',
  manager: 'DN of the manager',
  description: 'Description',
}
const isCustom = (name: string): boolean => Object.hasOwn(CUSTOM, name)

const ATTRIBUTES = [
  ...['sAMAccountName', 'userPrincipalName', 'mail', 'givenName', 'sn'],
  ...STATE_ATTRIBUTES,
]

export const listCustomAttributes = (): Output<'list_custom_attributes_schema'> =>
  Object.entries(CUSTOM).map(([name, description]) => ({
    customized_type: 'ACCOUNT',
    name,
    attribute_type: 'STRING',
    description,
  }))

/** Returns one page of accounts. */
export async function listAccounts(
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Paged<Account[]>> {
  const custom = (request.custom_attributes ?? []).filter(isCustom)
  const { response, cursor } = await findPage(ctx, ctx, 'account', [...ATTRIBUTES, ...custom])
  ctx.raw(response)
  const now = Date.now()
  return paged(
    response.map((entry) => toAccount(entry, custom, now)),
    cursor,
  )
}

/** Returns one account by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const custom = (request.custom_attributes ?? []).filter(isCustom)
  const entry = await readEntry(ctx, 'account', request.account_id, [...ATTRIBUTES, ...custom])
  ctx.raw(entry)
  return toAccount(entry, custom, Date.now())
}

const toAccount = (entry: LdapEntry, custom: readonly string[], now: number): Account => ({
  integration_specific_id: idOf(entry),
  email: firstOf(entry, 'mail') ?? null,
  given_name: firstOf(entry, 'givenName') ?? null,
  family_name: firstOf(entry, 'sn') ?? null,
  username: firstOf(entry, 'sAMAccountName') ?? null,
  user_status: isDisabled(entry) || isExpired(entry, now) ? 'SUSPENDED' : 'ACTIVE',
  extra_data: {
    dn: entry.dn,
    sid: sidOf(entry),
    user_principal_name: firstOf(entry, 'userPrincipalName') ?? null,
    locked: isLocked(entry),
    expires_at: expiryOf(entry),
  },
  custom_attributes: custom.length === 0 ? null : textsOf(entry, custom),
})
