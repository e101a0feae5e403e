/** Manual start of a sync. */
import { eq } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { findApp, lockApp } from '../catalogue/apps/apps.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import type { CoreContext, RequestContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { startRun } from './runs.ts'

/** Restarts a failed sync. Does nothing if one is already running. */
export async function syncAgain(
  tx: Db,
  actor: Actor,
  appId: string,
  { send }: Pick<CoreContext, 'send'>,
): Promise<void> {
  const [app] = await tx.select().from(apps).where(eq(apps.id, appId)).for('no key update')
  if (app && app.disconnectedAt === null && app.sealedConnection !== null)
    await startRun(tx, actor, app, send)
}

/**
 * Starts a sync of an app.
 *
 * @throws CoreError `not_found`; `conflict` if a sync is running, the app is disconnected or its connector is
 * not served; `invalid` for a custom app; `not_implemented` if its connector cannot list accounts
 */
export async function triggerSync(
  db: Db,
  principal: Principal,
  id: string,
  body: { sync_type: 'full_sync' },
  { connectors, send }: RequestContext,
) {
  const { id: appId } = await findApp(db, principal, id, 'apps.write')
  await db.transaction(async (tx) => {
    const app = await lockApp(tx, principal, appId, 'apps.write')
    if (app.connectorId === null) {
      const msg = 'Value error, this is a custom app: it has no system to sync with'
      throw new CoreError('invalid', [{ loc: ['path', 'app_id'], msg, type: 'value_error' }])
    }
    if (app.disconnectedAt !== null || app.sealedConnection === null)
      throw new CoreError(
        'conflict',
        `This app is not connected; connect it with PUT /apps/${app.id}`,
      )
    const connector = connectors.find(app.connectorId)
    if (!connector)
      throw new CoreError(
        'conflict',
        `The connector ${app.connectorId} is not served at the moment; see keyway list`,
      )
    if (!Object.hasOwn(connector.manifest.capabilities, 'list_accounts'))
      throw new CoreError(
        'not_implemented',
        `The connector ${app.connectorId} cannot list accounts`,
      )
    if ((await startRun(tx, principal, app, send)) === null)
      throw new CoreError('conflict', 'A sync of this app is already running')
  })
  return { app_id: appId, sync_type: body.sync_type, status: 'SYNCING' }
}
