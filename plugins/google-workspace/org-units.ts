/** Organisational units. They form a tree, and every user is in exactly one of them. */
import { ConnectorError, path } from 'keyway/sdk'
import { type Ctx, customer, directory } from './service.ts'

export type OrgUnit = {
  /** Begins with `id:`. */
  orgUnitId: string
  orgUnitPath: string
  name: string
  description?: string
  parentOrgUnitPath?: string
}

/** Returns the whole tree with its root. The list has no pages. */
export async function readOrgUnits(ctx: Ctx): Promise<OrgUnit[]> {
  const at = path`/customer/${customer(ctx)}/orgunits`
  const { organizationUnits: units = [] } = await directory(ctx).get<{
    organizationUnits?: OrgUnit[]
  }>(at, { query: { type: 'allIncludingParent' } })
  return units
}

/**
 * Returns one unit by id.
 *
 * @throws `not_found` if the unit is unknown
 */
export async function readOrgUnit(ctx: Ctx, id: string): Promise<OrgUnit> {
  const found = (await readOrgUnits(ctx)).find((one) => one.orgUnitId === id)
  if (found !== undefined) return found
  throw new ConnectorError('not_found', `There is no organisational unit ${JSON.stringify(id)}`)
}
