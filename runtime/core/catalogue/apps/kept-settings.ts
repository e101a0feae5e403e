/** Readable part of an app's connection: the settings that are not secret. */
import { CoreError, conflict } from '../../../contract/errors/problem.ts'
import type { Db } from '../../../database/database.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { findApp, toApp } from './apps.ts'
import { openConnection } from './connections.ts'

/**
 * Returns the settings of an app's connection, for a caller who may change it: the values of those that are
 * not secret, and the names of the secret ones that are set. Both are empty if the connection cannot be
 * opened.
 *
 * @throws CoreError `forbidden`, `not_found`, `conflict` for a custom app and for one whose connector is not
 * installed
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
        ? 'This is a custom app: it is not connected to a system'
        : `The connector ${row.connectorId} of this app is not installed`,
    )
  const kept = Object.entries(openedSettings(row, vault)).filter(([, value]) => value !== null)
  const isSecret = (name: string): boolean => {
    const field = connector.manifest.settings[name]
    // A setting of an older version. One that is no longer declared is not shown.
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
    // There is no connection, or it cannot be opened. The app must be connected from scratch.
    if (error instanceof CoreError && error.kind === 'conflict') return {}
    throw error
  }
}
