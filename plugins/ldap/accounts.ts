/** Reads, enables and disables people. */
import {
  firstOf,
  type Input,
  type LdapEntry,
  type LdapFilter,
  type Output,
  type Paged,
  paged,
  textsOf,
} from 'keyway/sdk'
import { type Ctx, findPage, idOf, readEntry } from './directory.ts'
import { isLockIgnored, POLICY_ATTRIBUTE, readPolicies, refuseIgnoredLock } from './locks.ts'
import { refuseOwnLogin } from './own-login.ts'
import { isOver, isToCome, VALID } from './times.ts'

type Account = Output<'get_account'>

/**
 * Values that disable an account permanently, by attribute. Sources: slapo-ppolicy(5); the guide of 389
 * Directory Server.
 */
const DISABLED = { pwdAccountLockedTime: '000001010000Z', nsAccountLock: 'true' } as const

/** Attributes that callers may request. All are text, and none holds a secret. */
const CUSTOM = {
  cn: 'Full name',
  displayName: 'Display name',
  title: 'Job title',
  departmentNumber: 'Department',
  employeeNumber: 'Employee number',
  employeeType: 'Kind of employment',
  telephoneNumber: 'Telephone number',
  mobile: 'Mobile number',
  ou: 'Organizational unit',
  o: 'Organization',
  l: 'Place',
  manager: 'DN of the manager',
  description: 'Description',
}
const isCustom = (name: string): boolean => Object.hasOwn(CUSTOM, name)

export const listCustomAttributes = (): Output<'list_custom_attributes_schema'> =>
  Object.entries(CUSTOM).map(([name, description]) => ({
    customized_type: 'ACCOUNT',
    name,
    attribute_type: 'STRING',
    description,
  }))

/** Returns one page of people. */
export async function listAccounts(
  request: Input<'list_accounts'>,
  ctx: Ctx,
): Promise<Paged<Account[]>> {
  const { response, cursor } = await findPage(ctx, ctx, {
    base: ctx.settings.people_dn,
    filter: peopleFilter(ctx),
    attributes: attributesFor(ctx, request.custom_attributes),
  })
  ctx.raw(response)
  const suspended = await suspendedOf(ctx, response)
  return paged(
    response.map((entry) => toAccount(ctx, entry, suspended, request.custom_attributes)),
    cursor,
  )
}

/** Returns one person by id. */
export async function getAccount(request: Input<'get_account'>, ctx: Ctx): Promise<Account> {
  const wanted = request.custom_attributes
  const entry = await readPerson(ctx, request.account_id, attributesFor(ctx, wanted))
  ctx.raw(entry)
  return toAccount(ctx, entry, await suspendedOf(ctx, [entry]), wanted)
}

/**
 * Returns the entry of a person.
 *
 * @throws `not_found` if the id is unknown or is not that of a person
 */
export const readPerson = (ctx: Ctx, id: string, attributes: string[] = []): Promise<LdapEntry> =>
  readEntry(ctx, id, {
    place: 'people_dn',
    filter: peopleFilter(ctx),
    attributes: [...new Set([ctx.settings.login_attribute, ...attributes])],
  })

/**
 * Enables or disables a person. Repeating it is not an error. Enabling also removes an end date in the past
 * and a start date in the future.
 *
 * @throws `unsupported_operation` if the directory is known to ignore the lock, and for the entry that the
 * connector signs in as
 */
export async function setEnabled(ctx: Ctx, id: string, enabled: boolean): Promise<void> {
  const name = ctx.settings.disabled_by
  const isLock = !enabled && name === 'pwdAccountLockedTime'
  const person = await readPerson(
    ctx,
    id,
    enabled ? Object.values(VALID) : isLock ? [POLICY_ATTRIBUTE] : [],
  )
  if (!enabled) await refuseOwnLogin(ctx, person, 'switched off')
  if (isLock) await refuseIgnoredLock(ctx, person)
  const now = new Date()
  const values: Record<string, string[]> = { [name]: enabled ? [] : [DISABLED[name]] }
  if (enabled && isOver(person, now)) values[VALID.until] = []
  if (enabled && isToCome(person, now)) values[VALID.from] = []
  await ctx.ldap.modify(person.dn, [{ replace: values }])
}

/** Returns a filter for all people. */
export const peopleFilter = (ctx: Ctx): LdapFilter => ({
  eq: ['objectClass', ctx.settings.person_class],
})

const attributesFor = (ctx: Ctx, custom: readonly string[] = []): string[] => [
  ...new Set([
    ...[
      ctx.settings.login_attribute,
      'mail',
      'givenName',
      'sn',
      ...Object.keys(DISABLED),
      POLICY_ATTRIBUTE,
      ...Object.values(VALID),
    ],
    ...custom.filter(isCustom),
  ]),
]

function toAccount(
  ctx: Ctx,
  entry: LdapEntry,
  suspended: ReadonlySet<LdapEntry>,
  custom: readonly string[] = [],
): Account {
  return {
    integration_specific_id: idOf(entry.dn),
    email: firstOf(entry, 'mail') ?? null,
    given_name: firstOf(entry, 'givenName') ?? null,
    family_name: firstOf(entry, 'sn') ?? null,
    username: firstOf(entry, ctx.settings.login_attribute) ?? null,
    user_status: suspended.has(entry) ? 'SUSPENDED' : 'ACTIVE',
    extra_data: { dn: entry.dn },
    custom_attributes: custom.length === 0 ? null : textsOf(entry, custom.filter(isCustom)),
  }
}

/** Returns the entries that cannot log in. Policies are read only if one of the entries is locked. */
async function suspendedOf(ctx: Ctx, entries: readonly LdapEntry[]): Promise<Set<LdapEntry>> {
  const isLocked = (entry: LdapEntry) => isDisabledBy(entry, 'pwdAccountLockedTime')
  const policies = entries.some(isLocked) ? await readPolicies(ctx) : null
  const now = new Date()
  return new Set(
    entries.filter(
      (entry) =>
        isDisabledBy(entry, 'nsAccountLock') ||
        isOver(entry, now) ||
        isToCome(entry, now) ||
        (policies !== null && isLocked(entry) && !isLockIgnored(ctx, entry, policies)),
    ),
  )
}

/**
 * Reports whether an attribute disables an entry permanently. Any other time is a temporary lock after wrong
 * passwords.
 */
const isDisabledBy = (entry: LdapEntry, name: keyof typeof DISABLED): boolean =>
  firstOf(entry, name)?.toLowerCase() === DISABLED[name].toLowerCase()
