/**
 * Making, connecting, changing and disconnecting apps. A system is asked before anything is written, so
 * that no lock is held meanwhile; what was true before is looked at again inside the transaction.
 */
import { eq } from 'drizzle-orm'
import type { Connection } from '../../../contract/connector/connection.ts'
import { type Manifest, normalizeId } from '../../../contract/connector/manifest.ts'
import {
  badRequest,
  CoreError,
  conflict,
  type ValidationEntry,
} from '../../../contract/errors/problem.ts'
import type { AppInputCreate, AppInputPut, AppInputUpdate } from '../../../contract/models/app.ts'
import { type Db, written } from '../../../database/database.ts'
import { type AppFacts, type AppRow, apps, tokenRenewals } from '../../../database/schema/apps.ts'
import { databaseTime } from '../../../database/transactions.ts'
import { recordActivity } from '../../kernel/audit/activity.ts'
import type { ServedConnector } from '../../kernel/context/connectors.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { appTarget, findApp, lockApp, toApp } from './apps.ts'
import { keepConnection, openConnection } from './connections.ts'
import { checkCredentials, checkedConnection, connectorFor, derivedTenant } from './credentials.ts'
import { changedFacts, customClassId, withFacts } from './facts.ts'
import { insertOrRevive } from './insert-app.ts'
import { toIntegration } from './integrations.ts'
import { callNow } from './outages.ts'
import { planRenewal } from './renewal.ts'

/** Instance of every custom app (core-interface.md section 1.17). */
export const CUSTOM_INSTANCE = 'custom_app_import'

/** How soon to ask again while a sync runs, in seconds. */
const SYNCING_RETRY_SECONDS = 10

export async function createApp(
  db: Db,
  principal: Principal,
  body: AppInputCreate,
  parts: RequestContext,
) {
  const { app_class_id: classId } = body
  if (classId === undefined) return createCustomApp(db, principal, body, parts)
  return connectApp(
    db,
    principal,
    connectorFor(parts, { ...body, app_class_id: classId }),
    body,
    parts,
  )
}

async function createCustomApp(
  db: Db,
  principal: Principal,
  body: AppInputCreate,
  parts: RequestContext,
) {
  const missing = (['name', 'category', 'description'] as const).filter(
    (name) => body[name] === undefined,
  )
  const connecting = [body.auth, body.settings, body.version].some((one) => one !== undefined)
  if (connecting || missing.length > 0)
    throw new CoreError('invalid', (connecting ? ['app_class_id'] : missing).map(required))
  const facts = withFacts({}, body)
  const app = {
    appClassId: customClassId(facts.name ?? ''),
    instanceId: CUSTOM_INSTANCE,
    connectorId: null,
    name: facts.name ?? '',
    defaults: facts,
    overrides: {},
    sources: ['MANUAL' as const],
  }
  return db.transaction(async (tx) => {
    const { row, revived } = await insertOrRevive(tx, principal, app, parts, () => null)
    const { appClassId: app_class_id } = app
    await recordActivity(tx, principal, 'APP_CREATED', [appTarget(row)], { app_class_id, revived })
    return toApp(row)
  })
}

const required = (name: string): ValidationEntry => ({
  loc: ['body', name],
  msg: 'Field required',
  type: 'missing',
})

async function connectApp(
  db: Db,
  principal: Principal,
  connector: ServedConnector,
  body: AppInputCreate,
  parts: RequestContext,
) {
  const { app_class_id: appClassId, logo_url, ...facts } = toIntegration(connector)
  const target = { target_type: 'Integration', name: facts.name, id: appClassId }
  return toldWhenRefused(db, principal, 'APP_CONNECTED', target, parts, async () => {
    const connection = checkedConnection(connector, body)
    const instanceId =
      (await checkCredentials(connector, connection, parts)) ?? derivedTenant(connector, connection)
    const defaults = known({ ...facts, logo_url })
    const overrides = withFacts({}, body)
    const app = {
      appClassId,
      instanceId,
      connectorId: appClassId,
      name: overrides.name ?? facts.name,
      defaults,
      overrides,
      sources: ['LUMOS_INTEGRATION' as const],
    }
    return db.transaction(async (tx) => {
      const { row, revived } = await insertOrRevive(tx, principal, app, parts, (owner) =>
        keepConnection(parts.vault, owner, connection),
      )
      await planRenewal(tx, row, connector.manifest, connection)
      await recordActivity(tx, principal, 'APP_CONNECTED', [appTarget(row)], {
        app_class_id: appClassId,
        instance_id: instanceId,
        version: connector.version,
        revived,
      })
      return toApp(row)
    })
  })
}

/** Facts without what is not known. */
const known = (facts: Record<string, string | null>): AppFacts =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))

export async function updateApp(
  db: Db,
  principal: Principal,
  id: string,
  body: AppInputUpdate,
  parts: Pick<RequestContext, 'listeners'>,
) {
  const { id: appId } = await findApp(db, principal, id, 'apps.write')
  return db.transaction(async (tx) => {
    const row = await lockApp(tx, principal, appId, 'apps.write')
    return toApp(await change(tx, principal, row, body, null, parts))
  })
}

export async function putApp(
  db: Db,
  principal: Principal,
  id: string,
  body: AppInputPut,
  parts: RequestContext,
) {
  const before = await findApp(db, principal, id, 'apps.write')
  mayChange(before)
  const reconnecting = asksToReconnect(before, body)
  if (!reconnecting) return saved(null)
  return toldWhenRefused(db, principal, 'APP_RECONNECTED', appTarget(before), parts, async () =>
    saved(await reconnection(before, body, parts)),
  )

  async function saved(renewed: Reconnection | null) {
    const sealed = renewed?.sealed ?? null
    return db.transaction(async (tx) => {
      const row = await lockApp(tx, principal, before.id, 'apps.write')
      mayChange(row)
      if (sealed !== null && overtaken(before, row, body))
        throw conflict('The app was disconnected or connected again meanwhile; try again')
      if (renewed) await planRenewal(tx, row, renewed.manifest, renewed.connection)
      return toApp(await change(tx, principal, row, body, sealed, parts))
    })
  }
}

/** Whether what a new connection was made from, or for, is not there any more. */
function overtaken(before: AppRow, now: AppRow, { auth, settings }: AppInputPut): boolean {
  if (before.disconnectedAt === null && now.disconnectedAt !== null) return true
  // Part of it was taken from the connection that was there before.
  const partly = auth === undefined || settings === undefined
  return partly && !same(now.sealedConnection, before.sealedConnection)
}

const same = (a: Buffer | null, b: Buffer | null): boolean =>
  a === null || b === null ? a === b : a.equals(b)

/** @throws CoreError conflict for an app that people manage elsewhere, too_many_requests while a sync runs. */
function mayChange(row: AppRow): void {
  managedHere(row)
  if (row.syncStatus === 'SYNCING')
    throw new CoreError(
      'too_many_requests',
      'A sync of this app is running; try again when it has ended',
      {
        retryAfterSeconds: SYNCING_RETRY_SECONDS,
      },
    )
}

/** @throws CoreError conflict for an app that people manage elsewhere. */
export function managedHere({ connectionSource }: AppRow): void {
  if (connectionSource !== 'API')
    throw conflict('This app is not managed by the API; PATCH changes what is shown of it')
}

/** @throws CoreError bad_request when the class is another, or is not named. */
function asksToReconnect(row: AppRow, body: AppInputPut): boolean {
  const { app_class_id: classId, auth, settings, version } = body
  const asks = [auth, settings, version].some((one) => one !== undefined)
  const matches = classId !== undefined && normalizeId(classId) === normalizeId(row.appClassId)
  if ((asks || classId !== undefined) && !matches)
    throw badRequest(
      classId === undefined
        ? `app_class_id: missing; auth, settings and version connect the app again, which names its class: write ${JSON.stringify(row.appClassId)} beside them. Of auth and settings, the one that is not sent stays. PATCH changes what is shown, without a class`
        : `app_class_id: another than the app’s; write ${JSON.stringify(row.appClassId)}`,
    )
  if (asks && row.connectorId === null)
    throw badRequest('This is a custom app: it takes no auth, settings or version')
  return asks
}

/**
 * The new connection of an app, accepted by the same tenant as before, sealed; null when only the
 * version was to be confirmed.
 */
async function reconnection(
  row: AppRow,
  body: AppInputPut,
  parts: RequestContext,
): Promise<Reconnection | null> {
  const { auth, settings, version } = body
  const connector = connectorFor(parts, { app_class_id: row.connectorId ?? '', version })
  if (auth === undefined && settings === undefined) return null
  const partly = auth === undefined || settings === undefined
  const kept = partly ? keptConnection(row, parts, auth === undefined) : null
  const connection: Connection = checkedConnection(connector, body, kept)
  const tenant = await checkCredentials(connector, connection, parts, { appId: row.id })
  // Where the connector cannot tell, the caller's word is taken: settings may change within one tenant.
  if (tenant !== null && tenant !== row.instanceId)
    throw conflict(
      `These credentials are of another tenant (${tenant}) than this app’s (${row.instanceId}); connect that one with POST /apps`,
    )
  const { manifest } = connector
  return { sealed: keepConnection(parts.vault, row, connection), connection, manifest }
}

/** A connection that is to be kept: sealed, and open for what is planned by it. */
type Reconnection = { sealed: Buffer; connection: Connection; manifest: Manifest }

/** Only credentials must be had from there; without old settings there are just none. */
function keptConnection(
  row: AppRow,
  { vault }: RequestContext,
  needed: boolean,
): Connection | null {
  if (row.sealedConnection === null) return null
  try {
    return openConnection(vault, row)
  } catch (error) {
    if (needed || !(error instanceof CoreError)) throw error
    return null
  }
}

/** Whether a custom app comes back: it has no connection, so its class alone asks for that. */
const comesBack = (
  { connectorId, disconnectedAt }: AppRow,
  { app_class_id: classId }: Partial<Pick<AppInputPut, 'app_class_id'>>,
): boolean => connectorId === null && disconnectedAt !== null && classId !== undefined

/** Writes what is different, and says so in the log; a new connection also ends a disconnection. */
async function change(
  tx: Db,
  principal: Principal,
  row: AppRow,
  body: AppInputUpdate & Partial<Pick<AppInputPut, 'app_class_id' | 'auth' | 'settings'>>,
  sealed: Buffer | null,
  { listeners }: Pick<RequestContext, 'listeners'>,
): Promise<AppRow> {
  const overrides = withFacts(row.overrides, body)
  const fields = changedFacts(row.overrides, overrides)
  const connects = sealed !== null || comesBack(row, body)
  if (fields.length === 0 && !connects) return row
  const [changed] = await tx
    .update(apps)
    .set({
      overrides,
      name: overrides.name ?? row.defaults.name ?? row.name,
      ...(connects ? { sealedConnection: sealed, disconnectedAt: null } : {}),
    })
    .where(eq(apps.id, row.id))
    .returning()
  // What waited for other credentials, or for its address, goes on.
  if (connects) await callNow(tx, row.id, await databaseTime(tx))
  // What policies could not give while it was disconnected.
  if (row.disconnectedAt !== null && connects) await listeners.appChanged(tx, row)
  const event = connects ? 'APP_RECONNECTED' : 'APP_UPDATED'
  const renewed = (['auth', 'settings'] as const).filter((name) => body[name] !== undefined)
  const told = { fields: [...fields, ...renewed] }
  await recordActivity(tx, principal, event, [appTarget(row)], told)
  return written(changed)
}

/** Disconnects; what is disconnected already stays so. */
export async function disconnectApp(db: Db, principal: Principal, id: string) {
  const { id: appId } = await findApp(db, principal, id, 'apps.write')
  return db.transaction(async (tx) => {
    const row = await lockApp(tx, principal, appId, 'apps.write')
    managedHere(row)
    if (row.disconnectedAt === null) {
      const gone = { disconnectedAt: new Date(), sealedConnection: null, syncStatus: null }
      await tx.update(apps).set(gone).where(eq(apps.id, row.id))
      await tx.delete(tokenRenewals).where(eq(tokenRenewals.appId, row.id))
      const { appClassId: app_class_id, instanceId: instance_id } = row
      const told = { app_class_id, instance_id }
      await recordActivity(tx, principal, 'APP_DISCONNECTED', [appTarget(row)], told)
    }
    return { id: row.id, app_class_id: row.appClassId, disconnected: true }
  })
}

/** Does it; when it is refused, that is in the log as well, by status alone: words may be another's. */
async function toldWhenRefused<T>(
  db: Db,
  principal: Principal,
  event: string,
  target: Parameters<typeof recordActivity>[3][number],
  { statusOfRefusal }: RequestContext,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CoreError)
      await db.transaction((tx) =>
        recordActivity(
          tx,
          principal,
          event,
          [target],
          { status: statusOfRefusal(error) },
          'Failed',
        ),
      )
    throw error
  }
}
