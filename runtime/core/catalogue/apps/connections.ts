/**
 * Sealed connections of apps to their systems. They are opened only for the duration of a call and never
 * disclosed. A sealed connection is bound to its domain and app, and opens in no other row.
 */

import type { CapabilityName } from '../../../contract/capabilities/capabilities.ts'
import { type Connection, envelopeOf } from '../../../contract/connector/connection.ts'
import { CoreError, conflict } from '../../../contract/errors/problem.ts'
import type { AppRow } from '../../../database/schema/apps.ts'
import { SealError, type Sealer } from '../../../secrets/seal.ts'
import type { ConnectorAnswer } from '../../kernel/context/connectors.ts'
import type { RequestContext } from '../../kernel/context/context.ts'

type Owner = Pick<AppRow, 'id' | 'domainId'>

/** Returns the associated data to which an app's sealed text is bound. */
export const bound = ({ id, domainId }: Owner): Buffer =>
  Buffer.from(`connection ${domainId} ${id}`)

/** Seals a connection for the app's row. */
export const keepConnection = (vault: Sealer, app: Owner, connection: Connection): Buffer =>
  vault.seal(JSON.stringify(connection), bound(app))

/**
 * Opens the connection of an app.
 *
 * @throws CoreError `conflict` if there is none or it cannot be opened; the message explains what to do
 */
export function openConnection(
  vault: Sealer,
  app: Owner & Pick<AppRow, 'sealedConnection'>,
): Connection {
  if (app.sealedConnection === null) throw conflict('This app is not connected')
  try {
    return JSON.parse(vault.open(app.sealedConnection, bound(app)))
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw new CoreError(
      'conflict',
      error.why === 'key'
        ? `The credentials of this app were sealed with the key ${error.keyId}, which no secret in KEYWAY_SECRET matches any more; put that secret back at the end of the list, or reconnect the app with PUT /apps/${app.id}`
        : `The stored credentials of this app were altered, or belong to another app; reconnect it with PUT /apps/${app.id}`,
      { cause: error },
    )
  }
}

/**
 * Calls a capability for a connected app. Failures of the connector or its system are returned, not thrown.
 *
 * @throws CoreError `conflict` if the app has no connection that can be opened
 */
export async function callApp(
  { connectors, vault, requestId, cause, signal }: RequestContext,
  app: Owner & Pick<AppRow, 'sealedConnection' | 'connectorId'>,
  capability: CapabilityName,
  call: { request: Record<string, unknown>; page?: { token: string | null; size: number | null } },
  { asTable = false }: { asTable?: boolean | readonly string[] } = {},
): Promise<ConnectorAnswer> {
  const connection = openConnection(vault, app)
  if (app.connectorId === null) throw conflict('This app is not connected')
  return connectors.call({
    connectorId: app.connectorId,
    capability,
    body: { ...envelopeOf(connection), ...call },
    requestId,
    cause,
    appId: app.id,
    signal,
    asTable,
  })
}
