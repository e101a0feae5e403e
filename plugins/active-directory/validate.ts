import { ConnectorError, ifThere, isBelow, type Output, plainDn } from 'keyway/sdk'
import { type Ctx, idOf, newAccountsPlace, placeOf } from './directory.ts'

/** Reads every place that the settings name; the tenant is the id that the domain gave to itself. */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  const { base_dn, disabled_dn, new_accounts_dn } = ctx.settings
  const people = placeOf(ctx, 'account')
  for (const [name, dn] of Object.entries({ disabled_dn, new_accounts_dn })) {
    if (dn === undefined || isWithin(dn, people)) continue
    throw new ConnectorError(
      'invalid_value',
      `${name} does not lie below ${people}: accounts there would not be found`,
    )
  }
  const domain = await read(ctx, base_dn)
  const places = [people, placeOf(ctx, 'group'), newAccountsPlace(ctx), disabled_dn ?? base_dn]
  for (const place of new Set(places)) if (place !== base_dn) await read(ctx, place)
  ctx.raw(domain)
  return { valid: true, unique_tenant_id: idOf(domain) }
}

function isWithin(dn: string, place: string): boolean {
  const [one, other] = [plainDn(dn) ?? '', plainDn(place) ?? '']
  return one === other || isBelow(one, other)
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
