/** What an app is connected with, as far as it may be read: the settings that are no secrets. */
import { CoreError, conflict } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { findApp, toApp } from './apps.ts'
import { openConnection } from './connections.ts'

/**
 * The settings of an app's connection for who may change it: values of those that are no secrets, and the names of those
 * that are and are set. Both are empty where nothing can be opened.
 *
 * @throws CoreError forbidden, not_found, conflict for an app that nothing connects, and for one whose connector is gone
 */
export async function getAppConnection(
  db: Db,
  principal: Principal,
  id: string,
  { connectors, vault }: Pick<RequestContext, 'connectors' | 'vault'>,
) {
  const row = await findApp(db, principal, id, 'apps.write')
  const connector = row.connectorId === null ? null : connectors.find(row.connectorId)
  if (!connector)
    throw conflict(
      row.connectorId === null
        ? 'This is a custom app: nothing connects it to a system'
        : `The connector ${row.connectorId} of this app is not installed`,
    )
  const kept = Object.entries(openedSettings(row, vault)).filter(([, value]) => value !== null)
  const isSecret = (name: string): boolean => {
    const field = connector.manifest.settings[name]
    // Of a version before: what is not declared now is not shown.
    return field === undefined || (field.type === 'string' && field.secret === true)
  }
  return {
    app: toApp(row),
    app_class_id: connector.id,
    settings: Object.fromEntries(kept.filter(([name]) => !isSecret(name))),
    secret_settings: kept.map(([name]) => name).filter(isSecret),
  }
}

function openedSettings(
  row: Parameters<typeof openConnection>[1],
  vault: RequestContext['vault'],
): Record<string, unknown> {
  try {
    return openConnection(vault, row).settings
  } catch (error) {
    // Nothing is kept, or it cannot be opened: it is connected again from the beginning.
    if (error instanceof CoreError && error.kind === 'conflict') return {}
    throw error
  }
}
