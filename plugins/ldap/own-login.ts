/**
 * Protects the entry that the connector signs in as. If it were disabled or had another password, the connector
 * could not sign in to undo that.
 */
import { ConnectorError, type LdapEntry } from 'keyway/sdk'
import { type Ctx, idOf } from './directory.ts'

/**
 * Refuses the connector's own entry.
 *
 * @param what Refused operation, in the passive, such as `switched off`
 * @throws `unsupported_operation` for the entry that the connector signs in as
 */
export async function refuseOwnLogin(ctx: Ctx, { dn }: LdapEntry, what: string): Promise<void> {
  const { username } = ctx.auth.basic
  if (idOf(username) !== idOf(dn) && !(await isNamed(ctx, dn, username))) return
  throw new ConnectorError(
    'unsupported_operation',
    `${idOf(dn)} is the account that Keyway itself signs in as, and is not ${what}: do that in the directory, after Keyway has another one`,
    { app_error_code: 'own_account' },
  )
}

/**
 * Reports whether an entry has a DN. The directory compares them, because it knows all spellings of a DN (RFC
 * 5020).
 */
async function isNamed(ctx: Ctx, base: string, dn: string): Promise<boolean> {
  // Without a name, the bind is anonymous.
  if (dn === '') return false
  const filter = { eq: ['entryDN', dn] } as const
  const found = await ctx.ldap.search({ base, scope: 'base', filter, attributes: ['objectClass'] })
  return found.entries.length > 0
}
