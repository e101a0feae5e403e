/**
 * How an approved request is carried out and taken back, as far as the database goes: what is left to do
 * outside stands in `todo`, and provision.ts does it.
 */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { appStoreSettings, requestablePermissions } from '../../database/schema/app_store.ts'
import { apps } from '../../database/schema/apps.ts'
import { groups } from '../../database/schema/people.ts'
import type { EntitlementRef } from '../../database/schema/requests.ts'
import type { AppRow } from '../catalogue/apps/apps.ts'
import type { PermissionRow } from '../catalogue/store/permission-base.ts'
import { doers } from './approvers.ts'
import { type RequestConfig, requestConfig } from './config.ts'
import { look, type RequestMeans } from './job-key.ts'
import { change, later, move, note, type RequestRow, systemOf } from './move.ts'
import { standingOf } from './states.ts'
import { ask, closeTasks } from './tasks.ts'

/** How long somebody may take to take access back by hand, in milliseconds. */
const MANUAL_REMOVAL_MS = 30 * 24 * 3600 * 1000

/** The app, the permission and the settings of a request, as they are now. */
export async function subjectOf(tx: Db, request: RequestRow) {
  const [row] = await appAndSettings(tx, { id: request.appId })
  const { app, settings } = row as { app: AppRow; settings: never }
  const [permission = null] =
    request.permissionId === null
      ? []
      : await tx
          .select()
          .from(requestablePermissions)
          .where(eq(requestablePermissions.id, request.permissionId))
  return { app, permission, config: requestConfig(app, settings, permission) }
}

const appAndSettings = prepared('app and settings of access request', (db) =>
  db
    .select({ app: apps, settings: appStoreSettings })
    .from(apps)
    .leftJoin(appStoreSettings, eq(appStoreSettings.appId, apps.id))
    .where(eq(apps.id, sql.placeholder('id'))),
)

/** Nothing that is left to do has failed so far. */
const NOT_FAILING = { attempts: 0, failingSince: null, problem: null } as const

/** Everybody said yes: on to carrying it out. */
export async function approved(
  tx: Db,
  request: RequestRow,
  why: string | null,
  means: RequestMeans,
): Promise<RequestRow> {
  const { app, permission, config } = await subjectOf(tx, request)
  const yes = await move(tx, request, 'APPROVED', { note: why, wakeAt: null })
  const way = await wayOf(tx, app, permission, config)
  const values = { ...way, ...NOT_FAILING, todo: 'grant' } as const
  const moved = await move(tx, yes, 'PENDING_PROVISIONING', {
    ...values,
    wakeAt: await means.now(tx),
  })
  if (way.how === 'manual') return byHand(tx, moved, config, null)
  await look(tx, moved, means)
  return moved
}

type Way = Required<Pick<RequestRow, 'how' | 'entitlement' | 'carriedAppId'>>

/** How a request is carried out: by a webhook, through the connector, or by hand. */
async function wayOf(
  tx: Db,
  app: AppRow,
  permission: PermissionRow | null,
  { provisioningWebhook, provisioningGroup }: RequestConfig,
): Promise<Way> {
  const manual: Way = { how: 'manual', entitlement: null, carriedAppId: app.id }
  if (provisioningWebhook !== null) return { ...manual, how: 'webhook' }
  const standsFor =
    provisioningGroup === null ? permission : await permissionOfGroup(tx, provisioningGroup)
  const [carrier] =
    standsFor === null || standsFor.appId === app.id
      ? [app]
      : await tx.select().from(apps).where(eq(apps.id, standsFor.appId))
  if (!carrier?.connectorId) return manual
  if (permission === null && provisioningGroup === null) return { ...manual, how: 'connector' }
  const entitlement = standsFor && entitlementOf(standsFor)
  if (entitlement === null) return manual
  return { how: 'connector', entitlement, carriedAppId: carrier.id }
}

const entitlementOf = (permission: PermissionRow): EntitlementRef | null => {
  const { entitlementType, entitlementId, resourceType, resourceId } = permission
  if (entitlementType === null || entitlementId === null) return null
  return {
    entitlementType,
    entitlementId,
    resourceType: resourceType ?? '',
    resourceId: resourceId ?? '',
  }
}

/** What a group of an app is there: the entitlement that its sync told of; null where two have its id. */
async function permissionOfGroup(tx: Db, groupId: string): Promise<PermissionRow | null> {
  const [row, another] = await tx
    .select({ permission: requestablePermissions })
    .from(groups)
    .innerJoin(
      requestablePermissions,
      and(
        eq(requestablePermissions.appId, groups.appId),
        eq(requestablePermissions.entitlementId, groups.integrationSpecificId),
      ),
    )
    .where(eq(groups.id, groupId))
    .limit(2)
  // A role may have the id of a group: people look which is meant.
  return another ? null : (row?.permission ?? null)
}

/** Somebody has to give the access by hand; `problem` is why it is not done by itself. */
export async function byHand(
  tx: Db,
  request: RequestRow,
  { instructions }: Pick<RequestConfig, 'instructions'>,
  problem: string | null,
): Promise<RequestRow> {
  const now = { todo: null, wakeAt: null, problem } as const
  const moved =
    request.status === 'PENDING_MANUAL_PROVISIONING'
      ? await change(tx, request, now)
      : await move(tx, request, 'PENDING_MANUAL_PROVISIONING', { failure: problem, ...now })
  await closeTasks(tx, moved, 'DISMISSED')
  await ask(tx, moved, 'give', await doers(tx, moved), words(instructions, problem))
  return moved
}

/** Asks people to give what could not be given so far; it goes on being tried beside them. */
export async function tellToGive(
  tx: Db,
  request: RequestRow,
  { instructions }: Pick<RequestConfig, 'instructions'>,
  problem: string | null,
): Promise<void> {
  const moved = await move(tx, request, 'PENDING_MANUAL_PROVISIONING', { failure: problem })
  await ask(tx, moved, 'give', await doers(tx, moved), tried(instructions, problem))
}

/** Asks people to take back what could not be taken so far; it goes on being tried beside them. */
export async function tellToTake(
  tx: Db,
  request: RequestRow,
  problem: string | null,
): Promise<void> {
  const moved = isOver(request)
    ? request
    : await move(tx, request, 'PENDING_MANUAL_DEPROVISIONING', { failure: problem })
  await ask(tx, moved, 'take', await doers(tx, moved), tried(null, problem))
}

const tried = (instructions: string | null, problem: string | null): string =>
  [
    `It could not be done so far: ${problem ?? 'no reason is known'}`,
    'It is tried again by itself, and this task closes once it is done. “retry” tries it now.',
    instructions,
  ]
    .filter((one) => one)
    .join('\n\n')

const words = (instructions: string | null, problem: string | null): string | null =>
  [problem === null ? null : `It could not be done automatically: ${problem}`, instructions]
    .filter((one) => one)
    .join('\n\n') || null

/** The access is there: from now its time counts. */
export async function given(
  tx: Db,
  request: RequestRow,
  means: RequestMeans,
  event: string,
): Promise<RequestRow> {
  const now = await means.now(tx)
  const seconds = request.expirationInSeconds
  const expiresAt = seconds === null ? null : later(now, seconds * 1000)
  const moved = await move(tx, request, 'PROVISIONED', {
    ...NOT_FAILING,
    todo: null,
    expiresAt,
    wakeAt: expiresAt,
  })
  await note(tx, systemOf(request), moved, event, { how: request.how, was_there: request.wasThere })
  return move(tx, moved, 'COMPLETED')
}

/** The access has to go, because its time or its reason is over. */
export async function leave(
  tx: Db,
  request: RequestRow,
  to: 'PENDING_DEPROVISIONING' | 'REVERTING',
  why: string | null,
  means: RequestMeans,
): Promise<RequestRow> {
  await closeTasks(tx, request, 'DISMISSED')
  const moved = await move(tx, request, to, {
    ...NOT_FAILING,
    note: why,
    todo: 'remove',
    wakeAt: await means.now(tx),
  })
  await look(tx, moved, means)
  return moved
}

/** A person put something right: what people were asked to give by hand is tried again. */
export async function giveAnew(
  tx: Db,
  request: RequestRow,
  means: RequestMeans,
): Promise<RequestRow> {
  const moved = await move(tx, request, 'PENDING_PROVISIONING', {
    ...NOT_FAILING,
    todo: 'grant',
    wakeAt: await means.now(tx),
  })
  await look(tx, moved, means)
  return moved
}

/** What people were asked to take back by hand is looked at again. */
export async function takeAnew(
  tx: Db,
  request: RequestRow,
  means: RequestMeans,
): Promise<RequestRow> {
  if (request.status === 'PENDING_MANUAL_DEPROVISIONING')
    return leave(
      tx,
      request,
      isReverting(request) ? 'REVERTING' : 'PENDING_DEPROVISIONING',
      null,
      means,
    )
  await closeTasks(tx, request, 'DISMISSED')
  return change(tx, request, { ...NOT_FAILING, todo: 'remove', wakeAt: await means.now(tx) })
}

/** Somebody has to take the access back by hand. */
export async function takeByHand(
  tx: Db,
  request: RequestRow,
  problem: string | null,
  means: RequestMeans,
): Promise<RequestRow> {
  const now = await means.now(tx)
  const who = await doers(tx, request)
  // One that is over stays so; what it has left behind is somebody's task all the same.
  const until = { todo: null, problem, wakeAt: later(now, MANUAL_REMOVAL_MS) } as const
  const moved = isOver(request)
    ? await change(tx, request, { todo: null, wakeAt: null, problem })
    : request.status === 'PENDING_MANUAL_DEPROVISIONING'
      ? await change(tx, request, until)
      : await move(tx, request, 'PENDING_MANUAL_DEPROVISIONING', { failure: problem, ...until })
  await closeTasks(tx, moved, 'DISMISSED')
  await ask(tx, moved, 'take', who, words(null, problem))
  return moved
}

const isOver = ({ status }: RequestRow): boolean => standingOf(status) === 'over'

/** Whether a request is on its way out because its reason is gone, not its time. */
const isReverting = ({ notes }: RequestRow): boolean => Object.hasOwn(notes, 'REVERTING')

/** The access is gone. */
export async function taken(tx: Db, request: RequestRow, event: string): Promise<RequestRow> {
  const done = { ...NOT_FAILING, todo: null, wakeAt: null } as const
  await note(tx, systemOf(request), request, event, { how: request.how })
  if (isOver(request)) return change(tx, request, done)
  return move(tx, request, isReverting(request) ? 'REVERTED' : 'TIME_BASED_EXPIRED', done)
}
