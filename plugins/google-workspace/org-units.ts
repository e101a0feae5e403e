/** Organisational units: a tree, in which every user has one place. */
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

/** The whole tree, the root included: a list without pages. */
export async function readOrgUnits(ctx: Ctx): Promise<OrgUnit[]> {
  const at = path`/customer/${customer(ctx)}/orgunits`
  const { organizationUnits: units = [] } = await directory(ctx).get<{
    organizationUnits?: OrgUnit[]
  }>(at, { query: { type: 'allIncludingParent' } })
  return units
}

/**
 * One unit by id.
 *
 * @throws not_found for an unknown one.
 */
export async function readOrgUnit(ctx: Ctx, id: string): Promise<OrgUnit> {
  const found = (await readOrgUnits(ctx)).find((one) => one.orgUnitId === id)
  if (found !== undefined) return found
  throw new ConnectorError('not_found', `There is no organisational unit ${JSON.stringify(id)}`)
}
