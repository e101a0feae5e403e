import { ConnectorError, firstOf, ifThere, type LdapEntry, type Output } from 'keyway/sdk'
import type { Ctx } from './directory.ts'

/** Attributes with an entry's permanent id: RFC 4530, and 389 Directory Server. */
const IDS = ['entryUUID', 'nsUniqueId']

/** Reads the entries of people and groups. The tenant id is the permanent id of the entry `people_dn`. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { people_dn } = ctx.settings
  const people = await readPlace(ctx, 'people_dn')
  const groups = await readPlace(ctx, 'groups_dn')
  if (ctx.settings.policy_dn !== undefined) await readPlace(ctx, 'policy_dn')
  ctx.raw([people, groups])
  const unique_tenant_id = IDS.flatMap((name) => firstOf(people, name) ?? [])[0]
  if (unique_tenant_id === undefined)
    throw new ConnectorError(
      'not_found',
      `The entry ${people_dn} has neither entryUUID nor nsUniqueId, or reading them is not allowed`,
    )
  return { valid: true, unique_tenant_id }
}

/**
 * Returns the entry that a setting names.
 *
 * @throws `not_found` with the name of the setting, also if the directory hides the entry
 */
async function readPlace(
  ctx: Ctx,
  name: 'people_dn' | 'groups_dn' | 'policy_dn',
): Promise<LdapEntry> {
  const base = ctx.settings[name] ?? ''
  const found = await ifThere(ctx.ldap.search({ base, scope: 'base', attributes: IDS }))
  const [entry] = found?.entries ?? []
  if (entry !== undefined) return entry
  throw new ConnectorError(
    'not_found',
    `${name}: there is no entry ${base}, or its reading is not allowed`,
    { app_error_code: 'noSuchObject' },
  )
}
