/** Storage of an app as a new record, or in that of a disconnected one. */
import { randomUUID } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import { conflict } from '../../../contract/errors/problem.ts'
import { type Db, written } from '../../../database/database.ts'
import { type AppRow, apps } from '../../../database/schema/apps.ts'
import { databaseTime } from '../../../database/transactions.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { callNow } from './outages.ts'

type NewApp = Pick<
  AppRow,
  'appClassId' | 'instanceId' | 'connectorId' | 'name' | 'defaults' | 'overrides' | 'sources'
>

/**
 * Stores an app as a new record, or in the disconnected one of the same class and instance. Of two
 * simultaneous callers, the unique index admits one, and the other waits for it here.
 *
 * @throws CoreError `conflict` if the app exists
 */
export async function insertOrRevive(
  tx: Db,
  { domainId }: Principal,
  app: NewApp,
  { listeners }: Pick<RequestContext, 'listeners'>,
  seal: (owner: { id: string; domainId: string }) => Buffer | null,
): Promise<{ row: AppRow; revived: boolean }> {
  const values = { ...app, domainId, status: 'APPROVED' as const, connectionSource: 'API' as const }
  const id = randomUUID()
  const [made] = await tx
    .insert(apps)
    .values({ ...values, id, sealedConnection: seal({ id, domainId }) })
    .onConflictDoNothing({ target: [apps.domainId, apps.appClassId, apps.instanceId] })
    .returning()
  if (made) return { row: made, revived: false }
  const { appClassId, instanceId } = app
  const [there] = await tx
    .select()
    .from(apps)
    .where(
      and(
        eq(apps.domainId, domainId),
        eq(apps.appClassId, appClassId),
        eq(apps.instanceId, instanceId),
      ),
    )
    .for('update')
  if (!there || there.disconnectedAt === null)
    throw conflict(
      `This app already exists${there ? ` as ${there.id}` : ''}: ${appClassId}, instance ${instanceId}; change its connection with PUT /apps/{app_id} instead`,
    )
  const [revived] = await tx
    .update(apps)
    .set({ ...values, disconnectedAt: null, sealedConnection: seal(there) })
    .where(eq(apps.id, there.id))
    .returning()
  await listeners.appChanged(tx, there)
  await callNow(tx, there.id, await databaseTime(tx))
  return { row: written(revived), revived: true }
}
