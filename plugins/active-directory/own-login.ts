/**
 * Protects the account that the connector signs in as. If it were disabled or had another password, the
 * connector could not sign in to undo that.
 */
import {
  ConnectorError,
  guidValue,
  type LdapEntry,
  type LdapFilter,
  plainDn,
  sidValue,
} from 'keyway/sdk'
import { type Ctx, domainName } from './directory.ts'

/**
 * Refuses the connector's own account. The domain resolves the login name, because it knows all forms of a
 * name.
 *
 * @param what Refused operation, in the passive, such as `switched off`
 * @throws `unsupported_operation` for the account that the connector signs in as
 */
export async function refuseOwnLogin(ctx: Ctx, { dn }: LdapEntry, what: string): Promise<void> {
  const filter = { or: loginFilters(ctx.auth.basic.username, domainName(ctx)) }
  const attributes = ['objectGUID']
  const { entries } = await ctx.ldap.search({ base: dn, scope: 'base', filter, attributes })
  if (entries.length === 0) return
  throw new ConnectorError(
    'unsupported_operation',
    `${dn} is the account that Keyway itself signs in as, and is not ${what}: do that in the domain, after Keyway has another one`,
    { app_error_code: 'own_account' },
  )
}

/**
 * Returns filters for the accounts that a name in a simple bind can denote (MS-ADTS section 5.1.1.1.1). Samba
 * does not accept a display name, GUID or SID.
 */
function loginFilters(name: string, domain: string): LdapFilter[] {
  const logon = /^[^\\]*\\(.+)$/.exec(name)?.[1] ?? logonNameIn(name, domain)
  const guid = guidValue(name.replace(/^\{(.*)\}$/, '$1'))
  const sid = sidValue(name)
  const filters: LdapFilter[] = [{ eq: ['userPrincipalName', name] }, { eq: ['displayName', name] }]
  if (logon !== null) filters.push({ eq: ['sAMAccountName', logon] })
  if (plainDn(name) !== null) filters.push({ eq: ['distinguishedName', name] })
  if (guid !== null) filters.push({ eq: ['objectGUID', guid] })
  if (sid !== null) filters.push({ eq: ['objectSid', sid] })
  return filters
}

/**
 * Returns the logon name before the `@` if the part after it denotes the domain: by its full name, or by its
 * short name, which has no dot. Returns null otherwise.
 */
function logonNameIn(name: string, domain: string): string | null {
  const at = name.lastIndexOf('@')
  const realm = name.slice(at + 1).toLowerCase()
  return at > 0 && (realm === domain || !realm.includes('.')) ? name.slice(0, at) : null
}
