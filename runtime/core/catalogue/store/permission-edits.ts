/** Creation, change and deletion of requestable permissions. */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { CoreError, conflict, notFound } from '../../../contract/errors/problem.ts'
import type {
  RequestablePermissionInput,
  RequestablePermissionInputUpdate,
} from '../../../contract/models/requestable-permission.ts'
import { entriesOf } from '../../../contract/schema/keys.ts'
import { type Db, one } from '../../../database/database.ts'
import {
  type PermissionRow,
  preApprovalRules,
  requestablePermissions,
  type StoredDocument,
} from '../../../database/schema/app_store.ts'
import { type AppRow, apps } from '../../../database/schema/apps.ts'
import { isId } from '../../kernel/by-id.ts'
import type { CoreContext } from '../../kernel/context/context.ts'
import { reach } from '../../kernel/identity/app-reach.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { lockApp } from '../apps/apps.ts'
import { changedMembers, documentIn } from './merge.ts'
import { changedConfig } from './permission-change.ts'
import { CONFIG_PLACES, permissionView } from './permission-view.ts'
import { permissionsAnswer } from './permissions.ts'
import { ownProvisioningGroup, sameProvisioningGroup } from './provisioning-group.ts'
import { recordInStore } from './record.ts'
import { toIds } from './references.ts'
import { settingsOf } from './settings.ts'
import { settingsView } from './settings-view.ts'

const answerOne = async (
  db: Db,
  principal: Principal,
  app: AppRow,
  row: PermissionRow,
  inherited: boolean,
) => {
  const settings = await settingsOf(db, app)
  return (
    await permissionsAnswer(db, principal, { app, settings, whole: true }, [row], inherited)
  )[0]
}

/**
 * Reads a permission that the caller may change. With a lock strength, locks it until the transaction ends.
 *
 * @throws CoreError `not_found`
 */
export async function findPermission(
  tx: Db,
  principal: Principal,
  id: string,
  strength: 'update' | 'no key update' | null,
): Promise<{ permission: PermissionRow; app: AppRow }> {
  const reached = reach(principal, 'appstore.write')
  const question = tx
    .select({ permission: requestablePermissions, app: apps })
    .from(requestablePermissions)
    .innerJoin(apps, eq(apps.id, requestablePermissions.appId))
    .where(
      and(
        eq(requestablePermissions.id, id),
        eq(requestablePermissions.domainId, principal.domainId),
        reached,
      ),
    )
  const locked = () =>
    strength === null ? question : question.for(strength, { of: requestablePermissions })
  const [row] = isId(id) ? await locked() : []
  if (!row) throw notFound('Permission')
  return row
}

const LOC = ['body', 'request_config']

/**
 * Creates a permission.
 *
 * @throws CoreError `not_found` for the app, `invalid` for references to missing objects
 */
export async function createPermission(
  db: Db,
  principal: Principal,
  body: RequestablePermissionInput,
  inherited: boolean,
) {
  return db.transaction(async (tx) => {
    const app = await lockApp(tx, principal, body.app_id, 'appstore.write')
    sameApp(app, body)
    const where = { places: CONFIG_PLACES, loc: LOC, appId: app.id }
    const config = await toIds(tx, principal, withTypes(body.request_config ?? {}), where)
    await ownProvisioningGroup(tx, principal, config, LOC)
    const made = one(
      await tx
        .insert(requestablePermissions)
        .values({
          domainId: principal.domainId,
          appId: app.id,
          label: body.label,
          ...changedConfig({}, config),
        })
        .returning(),
    )
    await recordInStore(tx, principal, 'APP_STORE_PERMISSION_CREATED', permissionTarget(made), app)
    return answerOne(tx, principal, app, made, inherited)
  })
}

/**
 * Changes a permission.
 *
 * @throws CoreError `not_found`, `invalid` for references to missing objects or for another app or
 * provisioning group
 */
export async function updatePermission(
  db: Db,
  principal: Principal,
  id: string,
  body: RequestablePermissionInputUpdate,
  inherited: boolean,
) {
  return db.transaction(async (tx) => {
    const { permission: before, app } = await findPermission(tx, principal, id, 'no key update')
    sameApp(app, body)
    const { label = before.label, request_config: change } = body
    const where = { places: CONFIG_PLACES, loc: LOC, appId: app.id }
    const ids = change ? await toIds(tx, principal, withTypes(change), where) : (change ?? null)
    if (ids) sameProvisioningGroup(before.document, ids, LOC)
    const config = change === undefined ? {} : changedConfig(before.document, ids)
    const after = one(
      await tx
        .update(requestablePermissions)
        .set({ label, ...config })
        .where(eq(requestablePermissions.id, before.id))
        .returning(),
    )
    const changed = changedMembers(told(before, app), told(after, app))
    const event = 'APP_STORE_PERMISSION_UPDATED'
    if (changed.length > 0)
      await recordInStore(tx, principal, event, permissionTarget(after), app, { changed })
    return answerOne(tx, principal, app, after, inherited)
  })
}

const told = (row: PermissionRow, app: AppRow) =>
  permissionView(row, app, settingsView(app, null), { inherited: false, whole: true })

/**
 * Deletes a permission.
 *
 * @throws CoreError `not_found`, `conflict` for one that a sync found or that a pre-approval rule names
 */
export async function deletePermission(
  db: Db,
  principal: Principal,
  id: string,
  parts: Pick<CoreContext, 'send' | 'now' | 'listeners'>,
): Promise<void> {
  await db.transaction(async (tx) => {
    // Lock in the global order: policies, requests, permissions.
    const { app } = await findPermission(tx, principal, id, null)
    // Remove the access that policies granted with it.
    await parts.listeners.appChanged(tx, app)
    await parts.listeners.permissionLocked(tx, id)
    // The strong lock waits for rules that are being written with this permission.
    const { permission } = await findPermission(tx, principal, id, 'update')
    if (permission.type !== 'NATIVE') {
      throw conflict(
        'The permission comes from the app itself; only those of type NATIVE can be deleted. Hide it instead',
      )
    }
    const [rule] = await tx
      .select({ id: preApprovalRules.id })
      .from(preApprovalRules)
      .where(and(eq(preApprovalRules.appId, app.id), naming(permission.id)))
      .limit(1)
    // A rule without its last permission would apply to the whole app.
    if (rule) {
      throw conflict(
        `The pre-approval rule ${rule.id} names the permission; change or delete the rule first`,
      )
    }
    await parts.listeners.permissionDeleted(tx, permission.id, parts)
    await tx.delete(requestablePermissions).where(eq(requestablePermissions.id, permission.id))
    await recordInStore(
      tx,
      principal,
      'APP_STORE_PERMISSION_DELETED',
      permissionTarget(permission),
      app,
    )
  })
}

const naming = (id: string): SQL =>
  sql`${preApprovalRules.document} -> 'preapproved_permissions' ? ${id}`

/** Returns a permission as a target of the activity log. */
export const permissionTarget = ({ id, label }: PermissionRow) => ({
  target_type: 'RequestablePermission',
  name: label,
  id,
})

type AppNames = Pick<
  RequestablePermissionInputUpdate,
  'app_id' | 'app_class_id' | 'app_instance_id'
>

/** Checks that every given name of the app, out of three, is that of the permission's app. */
function sameApp(app: AppRow, names: AppNames): void {
  const expected = {
    app_id: app.id,
    app_class_id: app.appClassId,
    app_instance_id: app.instanceId,
  }
  const entries = entriesOf(expected)
    .filter(([name, value]) => {
      const given = names[name]
      return given !== undefined && given.toLowerCase() !== value.toLowerCase()
    })
    .map(([name]) => ({
      loc: ['body', name],
      type: 'value_error',
      msg: 'Value error, it is not the app of the permission, which cannot be changed',
    }))
  if (entries.length > 0) throw new CoreError('invalid', entries)
}

/** Adds the type to approvers of stages, which a body may leave out. */
function withTypes(config: StoredDocument): StoredDocument {
  const approval = documentIn(config, 'request_approval_config')
  const stages = approval?.['request_approval_stages']
  if (!approval || !Array.isArray(stages)) return config
  const typed = stages.map((stage) => ({
    ...stage,
    ...(stage['approvers']
      ? {
          approvers: stage['approvers'].map((approver: StoredDocument) => ({
            ...approver,
            type: approver['user'] ? 'USER' : 'GROUP',
          })),
        }
      : {}),
  }))
  return {
    ...config,
    request_approval_config: { ...approval, request_approval_stages: typed },
  }
}
