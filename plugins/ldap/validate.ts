import { ConnectorError, firstOf, type Output } from 'keyway/sdk'
import type { Ctx } from './directory.ts'

/** What servers call the id of an entry that stays when it is renamed: RFC 4530, and 389 Directory Server. */
const IDS = ['entryUUID', 'nsUniqueId']

/** Reads where people and groups are; the tenant is the id that the directory itself gave to the place of people. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { people_dn, groups_dn } = ctx.settings
  const read = async (base: string) => {
    const { entries } = await ctx.ldap.search({ base, scope: 'base', attributes: IDS })
    const [entry] = entries
    if (entry !== undefined) return entry
    throw new ConnectorError(
      'not_found',
      `There is no entry ${base}, or its reading is not allowed`,
    )
  }
  const people = await read(people_dn)
  const groups = await read(groups_dn)
  ctx.raw([people, groups])
  const unique_tenant_id = IDS.flatMap((name) => firstOf(people, name) ?? [])[0]
  if (unique_tenant_id === undefined)
    throw new ConnectorError(
      'not_found',
      `The entry ${people_dn} has neither entryUUID nor nsUniqueId, or reading them is not allowed`,
    )
  return { valid: true, unique_tenant_id }
}
