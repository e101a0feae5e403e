/** The account that the connector itself signs in as: to switch it off would leave nobody to switch it on again. */
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
 * Lets only others pass. The domain is asked, which knows all the ways to write a name.
 *
 * @param what What would be done: `switched off`
 * @throws unsupported_operation for the account that the connector signs in as
 */
export async function refuseOwnLogin(ctx: Ctx, { dn }: LdapEntry, what: string): Promise<void> {
  const filter = { or: namedBy(ctx.auth.basic.username, domainName(ctx)) }
  const attributes = ['objectGUID']
  const { entries } = await ctx.ldap.search({ base: dn, scope: 'base', filter, attributes })
  if (entries.length === 0) return
  throw new ConnectorError(
    'unsupported_operation',
    `${dn} is the account that Keyway itself signs in as, and is not ${what}: do that in the domain, after Keyway has another one`,
    { app_error_code: 'own_account' },
  )
}

/** Filters for the accounts that a name in a simple bind can mean (MS-ADTS section 5.1.1.1.1). Samba accepts no display name, GUID or SID. */
function namedBy(name: string, domain: string): LdapFilter[] {
  const logon = /^[^\\]*\\(.+)$/.exec(name)?.[1] ?? ofDomain(name, domain)
  const guid = guidValue(name.replace(/^\{(.*)\}$/, '$1'))
  const sid = sidValue(name)
  const filters: LdapFilter[] = [{ eq: ['userPrincipalName', name] }, { eq: ['displayName', name] }]
  if (logon !== null) filters.push({ eq: ['sAMAccountName', logon] })
  if (plainDn(name) !== null) filters.push({ eq: ['distinguishedName', name] })
  if (guid !== null) filters.push({ eq: ['objectGUID', guid] })
  if (sid !== null) filters.push({ eq: ['objectSid', sid] })
  return filters
}

/** The logon name before the `@`, where the domain follows: by its name, or by its short one, which has no dot. */
function ofDomain(name: string, domain: string): string | null {
  const at = name.lastIndexOf('@')
  const realm = name.slice(at + 1).toLowerCase()
  return at > 0 && (realm === domain || !realm.includes('.')) ? name.slice(0, at) : null
}
