/** The entry that the connector itself signs in as: to switch it off would leave nobody to switch it on again. */
import { ConnectorError, type LdapEntry } from 'keyway/sdk'
import { type Ctx, idOf } from './directory.ts'

/**
 * Lets only others pass.
 *
 * @param what What would be done: `switched off`
 * @throws unsupported_operation for the entry that the connector signs in as
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

/** Whether an entry has a DN, asked of the directory: it knows all the ways to write it (RFC 5020). */
async function isNamed(ctx: Ctx, base: string, dn: string): Promise<boolean> {
  // Without a name, the sign-in is anonymous.
  if (dn === '') return false
  const filter = { eq: ['entryDN', dn] } as const
  const found = await ctx.ldap.search({ base, scope: 'base', filter, attributes: ['objectClass'] })
  return found.entries.length > 0
}
