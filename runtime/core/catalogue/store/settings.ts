/** Settings of an app: one record, exposed as `/appstore/apps/{id}/settings` and `/apps/{id}/settings`. */

import { eq, sql } from 'drizzle-orm'
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type {
  AppSettingInput,
  AppStoreAppSettingsInput,
  SettingsView,
} from '../../../contract/models/app-store.ts'
import type { People } from '../../../contract/models/approval.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import { type Db, written } from '../../../database/database.ts'
import {
  appStoreSettings,
  type SettingsRow,
  type StoredDocument,
} from '../../../database/schema/app_store.ts'
import { type AppRow, apps } from '../../../database/schema/apps.ts'
import { recordActivity } from '../../kernel/audit/activity.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { appTarget, findApp, lockApp } from '../apps/apps.ts'
import { allowedIds, withoutSecondStage } from './approver-settings.ts'
import { changedMembers, documentIn, mergePatch } from './merge.ts'
import { toIds } from './references.ts'
import { settingsAnswer } from './settings-answer.ts'
import { DEFAULT_PERMISSION, SETTINGS_PLACES, settingsView } from './settings-view.ts'
import { findInStore, notInStore } from './visibility.ts'

/** Reads the settings of an app in the store: complete, or what requesters need. */
export async function getStoreSettings(db: Db, principal: Principal, appId: string) {
  const { in_app_store, ...settings } = await settingsAnswer(
    db,
    principal,
    await findInStore(db, principal, appId),
  )
  return settings
}

/** Reads the settings of any app, for its administrators. */
export async function getSettings(db: Db, principal: Principal, appId: string) {
  return whole(db, principal, await findApp(db, principal, appId, 'appstore.read'))
}

/**
 * Changes the settings of an app in the store.
 *
 * @throws CoreError `not_found`, `invalid` for references to missing objects
 */
export async function updateStoreSettings(
  db: Db,
  principal: Principal,
  appId: string,
  body: AppStoreAppSettingsInput,
) {
  return db.transaction(async (tx) => {
    const app = await lockApp(tx, principal, appId, 'appstore.write')
    if (!(await settingsOf(tx, app))?.inAppStore) throw notInStore()
    const { in_app_store, ...settings } = await writeSettings(tx, principal, app, body)
    return settings
  })
}

/**
 * Changes the settings of any app.
 *
 * @throws CoreError `not_found`, `invalid` for references to missing objects
 */
export async function updateSettings(
  db: Db,
  principal: Principal,
  appId: string,
  body: AppSettingInput,
) {
  return db.transaction(async (tx) =>
    writeSettings(tx, principal, await lockApp(tx, principal, appId, 'appstore.write'), body),
  )
}

/** Reads the stored settings of an app, or null if there are none. */
export async function settingsOf(db: Db, app: AppRow): Promise<SettingsRow | null> {
  const [row] = await db.select().from(appStoreSettings).where(eq(appStoreSettings.appId, app.id))
  return row ?? null
}

/**
 * Changes the settings of a locked app and returns them. Absent members stay, `null` resets a member to its
 * default, lists are replaced.
 *
 * @throws CoreError `invalid` for references to missing objects
 */
export async function writeSettings(
  tx: Db,
  principal: Principal,
  app: AppRow,
  body: AppSettingInput,
) {
  const row = await settingsOf(tx, app)
  const places = [...SETTINGS_PLACES, DEFAULT_PERMISSION]
  const patch = await toIds(tx, principal, body, { places, loc: ['body'], appId: app.id })
  const { onApp, inStore = row?.inAppStore ?? false, document: change } = parted(patch)
  const document = mergePatch(row?.document ?? {}, change)
  document['request_flow'] = withoutSecondStage(
    membersOf(document['request_flow']),
    documentIn(change, 'request_flow') ?? undefined,
  )
  const after = await store(tx, { ...app, ...onApp }, { document, inStore })
  await recordChange(
    tx,
    principal,
    app,
    settingsView(app, row),
    settingsView(after.app, after.settings),
  )
  return whole(tx, principal, after.app)
}

type OnApp = Partial<
  Pick<AppRow, 'adminUserIds' | 'adminGroupIds' | 'allowMultiplePermissionSelection'>
>

/**
 * Splits a change into its three parts: columns of the app's row, membership in the store, and the document.
 */
function parted(patch: StoredDocument): {
  onApp: OnApp
  inStore?: boolean
  document: StoredDocument
} {
  const { in_app_store: inStore, request_flow, provisioning, ...rest } = patch
  const { admins, ...flow }: StoredDocument & { admins?: Partial<People> } = membersOf(request_flow)
  const { allow_multiple_permission_selection: several, ...provision } = membersOf(provisioning)
  return {
    onApp: {
      ...(admins?.users ? { adminUserIds: admins.users } : {}),
      ...(admins?.groups ? { adminGroupIds: admins.groups } : {}),
      ...(typeof several === 'boolean' ? { allowMultiplePermissionSelection: several } : {}),
    },
    ...(typeof inStore === 'boolean' ? { inStore } : {}),
    document: { ...rest, request_flow: flow, provisioning: provision },
  }
}

async function store(
  tx: Db,
  app: AppRow,
  { document, inStore }: { document: StoredDocument; inStore: boolean },
): Promise<{ app: AppRow; settings: SettingsRow }> {
  const { request_flow: flow } = settingsView(app, { document, inAppStore: inStore })
  const values = {
    document,
    inAppStore: inStore,
    discoverability: flow.discoverability,
    allowedGroupIds: allowedIds(flow.allowed_groups),
  }
  const [settings] = await tx
    .insert(appStoreSettings)
    .values({ appId: app.id, domainId: app.domainId, ...values })
    .onConflictDoUpdate({
      target: appStoreSettings.appId,
      set: { ...values, updatedAt: sql`now()` },
    })
    .returning()
  const { adminUserIds, adminGroupIds, allowMultiplePermissionSelection } = app
  await tx
    .update(apps)
    .set({ adminUserIds, adminGroupIds, allowMultiplePermissionSelection })
    .where(eq(apps.id, app.id))
  return { app, settings: written(settings) }
}

const ADMINS = 'request_flow.admins.'
const IN_STORE = 'in_app_store'

async function recordChange(
  tx: Db,
  principal: Principal,
  app: AppRow,
  before: SettingsView,
  after: SettingsView,
): Promise<void> {
  const changed = changedMembers(before, after)
  const targets = [appTarget(app)]
  const say = (eventType: ActivityEvent, metadata: StoredDocument) =>
    recordActivity(tx, principal, eventType, targets, metadata)
  const others = changed.filter((name) => !name.startsWith(ADMINS) && name !== IN_STORE)
  if (changed.includes(IN_STORE))
    await say(
      after.in_app_store ? 'ADMIN_ADDED_APP_TO_APP_STORE' : 'ADMIN_REMOVED_APP_FROM_APP_STORE',
      {},
    )
  if (changed.some((name) => name.startsWith(ADMINS)))
    await say('ADMIN_UPDATED_APP_ADMINS', {
      before: before.request_flow.admins,
      after: after.request_flow.admins,
    })
  if (others.length > 0) await say('ADMIN_UPDATED_APP_STORE_SETTINGS', { changed: others })
}

const whole = async (db: Db, principal: Principal, app: AppRow) =>
  settingsAnswer(db, principal, {
    app,
    settings: await settingsOf(db, app),
    whole: true,
    covered: true,
  })
