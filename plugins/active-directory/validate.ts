import { ConnectorError, ifThere, type Output } from 'keyway/sdk'
import { type Ctx, checkPlaces, idOf, newAccountsPlace, placeOf } from './directory.ts'

/** Reads every place that the settings name. The tenant id is the `objectGUID` of the domain. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { base_dn, disabled_dn } = ctx.settings
  checkPlaces(ctx)
  const people = placeOf(ctx, 'account')
  const domain = await read(ctx, base_dn)
  const places = [people, placeOf(ctx, 'group'), newAccountsPlace(ctx), disabled_dn ?? base_dn]
  for (const place of new Set(places)) if (place !== base_dn) await read(ctx, place)
  ctx.raw(domain)
  return { valid: true, unique_tenant_id: idOf(domain) }
}

async function read(ctx: Ctx, base: string) {
  const found = await ifThere(ctx.ldap.search({ base, scope: 'base', attributes: ['objectGUID'] }))
  const [entry] = found?.entries ?? []
  if (entry !== undefined) return entry
  throw new ConnectorError(
    'not_found',
    `There is no entry ${base}, which the settings name, or its reading is not allowed`,
    { app_error_code: 'noSuchObject' },
  )
}
