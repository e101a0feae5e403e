/** Catalogue of the installed connectors. */

import type { QueryOf } from '../../../contract/endpoints/table.ts'
import { notFound } from '../../../contract/errors/problem.ts'
import { firstCategory } from '../../../contract/models/categories.ts'
import type { ServedConnector } from '../../kernel/context/connectors.ts'
import type { CoreContext } from '../../kernel/context/context.ts'
import { reach } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { slicePage } from '../../kernel/list/page.ts'

/** Converts a connector to its entry in the catalogue. Values missing from its manifest are null. */
export const toIntegration = ({ id, manifest }: ServedConnector) => ({
  app_class_id: id,
  name: manifest.name ?? id,
  description: manifest.description ?? null,
  category: firstCategory(manifest.categories ?? []),
  logo_url: manifest.logo === undefined ? null : logoPath(id),
})

/** Returns the path of a connector's logo: the images themselves would make a list megabytes long. */
const logoPath = (id: string): string => `/integrations/${id}/logo`

type IntegrationQuery = QueryOf<'list_integrations'>

/** Lists the connectors that are served, by id. */
export async function listIntegrations(
  principal: Principal,
  query: IntegrationQuery,
  { connectors }: CoreContext,
) {
  mayLook(principal)
  const wanted = (query.query ?? '').toLowerCase()
  const all = connectors
    .ids()
    .map((id) => connectors.find(id))
    .filter((one) => one !== null)
    .map(toIntegration)
    .filter(({ app_class_id: id, name }) =>
      [id, name].some((text) => text.toLowerCase().includes(wanted)),
    )
  return slicePage(all, query)
}

export async function getIntegration(principal: Principal, id: string, parts: CoreContext) {
  return toIntegration(findIntegration(principal, id, parts))
}

/** Finds a connector by either spelling of its id. @throws CoreError `forbidden`, `not_found` */
export function findIntegration(
  principal: Principal,
  id: string,
  { connectors }: CoreContext,
): ServedConnector {
  mayLook(principal)
  const connector = connectors.find(id)
  if (!connector) throw notFound('Integration')
  return connector
}

/** Checks that the caller may read apps, which includes the catalogue. @throws CoreError `forbidden` */
function mayLook(principal: Principal): void {
  reach(principal, 'apps.read')
}
