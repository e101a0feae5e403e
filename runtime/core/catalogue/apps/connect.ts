/**
 * Creation, connection, change and disconnection of apps. A system is called before anything is written, so
 * that no lock is held during the call. The transaction then checks again what was read before.
 */

import { eq, sql } from 'drizzle-orm'
import type { Connection } from '../../../contract/connector/connection.ts'
import { type Manifest, normalizeId } from '../../../contract/connector/manifest.ts'
import {
  badRequest,
  CoreError,
  conflict,
  type ValidationEntry,
} from '../../../contract/errors/problem.ts'
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
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

/** Retry delay for clients while a sync runs, in seconds. */
const SYNCING_RETRY_SECONDS = 10

/**
 * Creates a custom app, or an app that is connected by a connector.
 *
 * @throws CoreError `invalid`, `bad_request`, `conflict` if it exists, `not_implemented`, `upstream_failed`
 */
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

/** Returns the facts without those that are null. */
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
        throw conflict('The app was disconnected or reconnected in the meantime; try again')
      if (renewed) await planRenewal(tx, row, renewed.manifest, renewed.connection)
      return toApp(await change(tx, principal, row, body, sealed, parts))
    })
  }
}

/**
 * Reports whether the basis of a new connection has changed: the app was disconnected, or the old connection
 * replaced.
 */
function overtaken(before: AppRow, now: AppRow, { auth, settings }: AppInputPut): boolean {
  if (before.disconnectedAt === null && now.disconnectedAt !== null) return true
  // Part of it was taken from the previous connection.
  const partly = auth === undefined || settings === undefined
  return partly && !same(now.sealedConnection, before.sealedConnection)
}

const same = (a: Buffer | null, b: Buffer | null): boolean =>
  a === null || b === null ? a === b : a.equals(b)

/**
 * Checks that an app can be changed now.
 *
 * @throws CoreError `conflict` for an app that is managed elsewhere, `too_many_requests` while a sync runs
 */
function mayChange(row: AppRow): void {
  managedHere(row)
  if (row.syncStatus === 'SYNCING')
    throw new CoreError(
      'too_many_requests',
      'A sync of this app is running; try again when it has finished',
      {
        retryAfterSeconds: SYNCING_RETRY_SECONDS,
      },
    )
}

/**
 * Checks that an app is managed by the API.
 *
 * @throws CoreError `conflict` for an app that is managed elsewhere
 */
export function managedHere({ connectionSource }: AppRow): void {
  if (connectionSource !== 'API')
    throw conflict('This app is not managed by the API; use PATCH to change how it is shown')
}

/**
 * Reports whether a body asks for a new connection.
 *
 * @throws CoreError `bad_request` if the class differs or is missing
 */
function asksToReconnect(row: AppRow, body: AppInputPut): boolean {
  const { app_class_id: classId, auth, settings, version } = body
  const asks = [auth, settings, version].some((one) => one !== undefined)
  const matches = classId !== undefined && normalizeId(classId) === normalizeId(row.appClassId)
  if ((asks || classId !== undefined) && !matches)
    throw badRequest(
      classId === undefined
        ? `app_class_id: missing; auth, settings and version reconnect the app, which needs its class: send ${JSON.stringify(row.appClassId)} with them. Of auth and settings, the one that you leave out is kept. To change only how the app is shown, use PATCH, which needs no class`
        : `app_class_id: not that of the app; send ${JSON.stringify(row.appClassId)}`,
    )
  if (asks && row.connectorId === null)
    throw badRequest('This is a custom app: it takes no auth, settings or version')
  return asks
}

/**
 * Returns the new connection of an app, sealed, after the same tenant as before has accepted it. Returns null
 * if only the version was to be confirmed.
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
  // If the connector cannot identify the tenant, the caller is trusted: settings may change within one
  // tenant.
  if (tenant !== null && tenant !== row.instanceId)
    throw conflict(
      `These credentials belong to another tenant (${tenant}) than this app’s (${row.instanceId}); connect that tenant with POST /apps`,
    )
  const { manifest } = connector
  return { sealed: keepConnection(parts.vault, row, connection), connection, manifest }
}

/** A connection to store: sealed, and in clear for the planning of renewals. */
type Reconnection = { sealed: Buffer; connection: Connection; manifest: Manifest }

/**
 * Opens the stored connection of an app, or returns null if there is none. One that cannot be opened is an
 * error only if its credentials are needed; its settings count as unset.
 */
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

/**
 * Reports whether a body revives a disconnected custom app. It has no connection, so its class alone asks for
 * that.
 */
const comesBack = (
  { connectorId, disconnectedAt }: AppRow,
  { app_class_id: classId }: Partial<Pick<AppInputPut, 'app_class_id'>>,
): boolean => connectorId === null && disconnectedAt !== null && classId !== undefined

/** Writes and logs the changed members. A new connection also ends a disconnection. */
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
  // Work that waited for new credentials or a new address continues.
  if (connects) await callNow(tx, row.id, await databaseTime(tx))
  // Policies could not grant access while the app was disconnected.
  if (row.disconnectedAt !== null && connects) await listeners.appChanged(tx, row)
  const event = connects ? 'APP_RECONNECTED' : 'APP_UPDATED'
  const renewed = (['auth', 'settings'] as const).filter((name) => body[name] !== undefined)
  const told = { fields: [...fields, ...renewed] }
  await recordActivity(tx, principal, event, [appTarget(row)], told)
  return written(changed)
}

/**
 * Disconnects an app. Does nothing if it is already disconnected.
 *
 * @throws CoreError `forbidden`, `not_found`, `conflict` for an app that is managed elsewhere
 */
export async function disconnectApp(db: Db, principal: Principal, id: string) {
  const { id: appId } = await findApp(db, principal, id, 'apps.write')
  return db.transaction(async (tx) => {
    const row = await lockApp(tx, principal, appId, 'apps.write')
    managedHere(row)
    if (row.disconnectedAt === null) {
      const gone = { disconnectedAt: sql`now()`, sealedConnection: null, syncStatus: null }
      await tx.update(apps).set(gone).where(eq(apps.id, row.id))
      await tx.delete(tokenRenewals).where(eq(tokenRenewals.appId, row.id))
      const { appClassId: app_class_id, instanceId: instance_id } = row
      const told = { app_class_id, instance_id }
      await recordActivity(tx, principal, 'APP_DISCONNECTED', [appTarget(row)], told)
    }
    return { id: row.id, app_class_id: row.appClassId, disconnected: true }
  })
}

/** Runs `work`, and logs a refusal by its status alone: the message may contain text of the other system. */
async function toldWhenRefused<T>(
  db: Db,
  principal: Principal,
  event: ActivityEvent,
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
