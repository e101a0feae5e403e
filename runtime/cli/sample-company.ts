/** Creates the sample company in the database of a running host, once, with the core's own functions. */

import { setTimeout as pause } from 'node:timers/promises'
import { and, eq } from 'drizzle-orm'
import * as v from 'valibot'
import { errorOf } from '../contract/errors/thrown.ts'
import { AccessPolicyInput } from '../contract/models/access-policy.ts'
import { CreateAccessRequestInput } from '../contract/models/access-request.ts'
import type { ActivityEvent } from '../contract/models/activity-event.ts'
import { AppInputCreate } from '../contract/models/app.ts'
import { AddAppToAppStoreInput } from '../contract/models/app-store.ts'
import { PreApprovalRuleInput } from '../contract/models/pre-approval-rule.ts'
import { RequestablePermissionInput } from '../contract/models/requestable-permission.ts'
import { SeparationInput } from '../contract/models/separation.ts'
import { createApp } from '../core/catalogue/apps/connect.ts'
import { addStoreApp } from '../core/catalogue/store/app-store.ts'
import { createPermission } from '../core/catalogue/store/permission-edits.ts'
import { createRule } from '../core/catalogue/store/pre-approval.ts'
import { importPeople } from '../core/directory/import/import.ts'
import { addRole } from '../core/directory/users.ts'
import { recordActivity } from '../core/kernel/audit/activity.ts'
import { wasRecorded } from '../core/kernel/audit/unchained-entries.ts'
import type { RequestContext } from '../core/kernel/context/context.ts'
import { callerOf, type Principal, principalOfToken } from '../core/kernel/identity/principal.ts'
import { createPolicy } from '../core/policies/policies.ts'
import { createAccessRequest } from '../core/requests/ask.ts'
import { createReview } from '../core/reviews/create.ts'
import { createSeparationRule } from '../core/separation/manage.ts'
import { triggerSync } from '../core/sync/trigger.ts'
import { completeTask } from '../core/task-actions/act.ts'
import type { Db } from '../database/database.ts'
import { lockUntilEnd } from '../database/locks.ts'
import { requestablePermissions } from '../database/schema/app_store.ts'
import { groups, users } from '../database/schema/people.ts'
import { tasks } from '../database/schema/tasks.ts'
import { isDatabaseUnavailable } from '../database/unavailable.ts'
import type { Host } from '../main.ts'
import { type Ids, type SampleApp, sampleCompany } from '../sample/company.ts'
import { groupIdOf } from '../sample/directory.ts'
import { SAMPLE_TOKEN, tenantUrl } from '../sample/tenants.ts'

/**
 * Type of the activity log entry about it. If the entry exists, the company was created, even if it was
 * changed since.
 */
const SAMPLE_EVENT = 'SAMPLE_COMPANY_ADDED' satisfies ActivityEvent

/** Pause before an unavailable database is tried again, in milliseconds. */
const RETRY_MS = 2000

/**
 * `made`: created now. `there`: created before. `left-out`: the database has other people, or the operator's
 * token is revoked.
 */
type SampleOutcome = 'made' | 'there' | 'left-out'

type Maker = { baseUrl: string; signal: AbortSignal; onAway?(error: Error): void }

/**
 * Waits for the database and creates the company in one transaction, on behalf of the operator's token.
 *
 * @throws the error that prevents it, unless the database is unavailable; an AbortError when `signal` aborts
 */
export async function ensureSampleCompany(host: Host, maker: Maker): Promise<SampleOutcome> {
  const { signal, onAway } = maker
  await host.databaseReady
  for (;;) {
    signal.throwIfAborted()
    const db = host.db()
    try {
      if (db) return await db.transaction((tx) => ensure(tx, host, maker))
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      onAway?.(errorOf(error))
    }
    await pause(RETRY_MS, undefined, { signal })
  }
}

async function ensure(tx: Db, host: Host, { baseUrl, signal }: Maker): Promise<SampleOutcome> {
  // Two hosts may start at once on one database. The second then finds the company.
  await tx.execute(lockUntilEnd('making the sample company'))
  const principal = await principalOfToken(tx, host.hasher, host.adminToken)
  if (!principal) return 'left-out'
  const { domainId } = principal
  if (await wasRecorded(tx, domainId, SAMPLE_EVENT)) return 'there'
  const known = await tx.select().from(users).where(eq(users.domainId, domainId)).limit(2)
  if (known.length > 1) return 'left-out'
  await make(
    tx,
    principal,
    { ...host.parts, requestId: 'sample', cause: { kind: 'request', id: 'sample' }, signal },
    baseUrl,
  )
  return 'made'
}

const DAY_MS = 24 * 3600 * 1000

async function make(tx: Db, principal: Principal, parts: RequestContext, baseUrl: string) {
  const { csv, roles, apps, duties, review } = sampleCompany()
  // The systems first, because they may refuse.
  const connected: { app: SampleApp; id: string }[] = []
  for (const app of apps) {
    const { tenant, name, category, description } = app
    const connection = {
      app_class_id: 'scim',
      auth: { token: SAMPLE_TOKEN },
      settings: { base_url: tenantUrl(baseUrl, tenant) },
    }
    const body = v.parse(AppInputCreate, { name, category, description, ...connection })
    connected.push({ app, id: (await createApp(tx, principal, body, parts)).id })
  }
  await importPeople(tx, principal, bytesOf(csv), {
    dryRun: false,
    fileName: 'sample',
    listeners: parts.listeners,
  })
  const ids = await idsOf(tx, principal)
  for (const { email, role } of roles) await addRole(tx, principal, ids.user(email).id, role)
  const labels = new Map<string, Map<string, string>>()
  for (const { app, id } of connected)
    labels.set(app.name, await fillApp(tx, principal, app, id, ids, parts))
  const { name, description, left, right } = duties
  const permission = named(labels.get(left.app) ?? new Map(), left.label)
  const other = named(new Map(connected.map(({ app, id }) => [app.name, id])), right.app)
  const rule = {
    ...{ name, description },
    ...{ left: { permissions: [permission.id] }, right: { apps: [other.id] } },
  }
  await createSeparationRule(tx, principal, v.parse(SeparationInput, rule), parts)
  await createReview(
    tx,
    principal,
    {
      name: review.name,
      deadline_at: new Date((await parts.now(tx)).getTime() + review.days * DAY_MS).toISOString(),
      owner_id: ids.user(review.owner).id,
      target_launch_date: undefined,
      recurrence_config: undefined,
      recurrence_days_frequency: undefined,
      apps: connected
        .filter(({ app }) => review.apps.includes(app.name))
        .map(({ id }) => ({ id, review_type: 'ENTITLEMENTS' as const, scope_filters: undefined })),
    },
    parts,
  )
  await recordActivity(tx, principal, SAMPLE_EVENT, [], { base_url: baseUrl })
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function fillApp(
  tx: Db,
  principal: Principal,
  app: SampleApp,
  appId: string,
  people: Omit<Ids, 'permission'>,
  parts: RequestContext,
): Promise<Map<string, string>> {
  const labels = new Map<string, string>()
  const ids: Ids = { ...people, permission: (label) => named(labels, label) }
  const of = <T extends object>(body: T) => ({ ...body, app_id: appId })
  await addStoreApp(tx, principal, v.parse(AddAppToAppStoreInput, of(app.settings(ids))))
  for (const permission of app.permissions(ids)) {
    const body = v.parse(RequestablePermissionInput, of(permission))
    const made = await createPermission(tx, principal, body, true)
    labels.set(permission.label, String(made?.id))
  }
  for (const { name, request_config } of app.groups(ids))
    labels.set(name, await groupPermission(tx, principal, appId, name, request_config))
  for (const rule of app.rules(ids))
    await createRule(tx, principal, v.parse(PreApprovalRuleInput, of(rule)), parts)
  for (const { permissions, ...policy } of app.policies(ids)) {
    const given = { id: appId, is_preapproved: true, permissions }
    const body = v.parse(AccessPolicyInput, { ...policy, apps: [given] })
    await createPolicy(tx, principal, body, parts)
  }
  // The sync adds the rest of the directory.
  await triggerSync(tx, principal, appId, { sync_type: 'full_sync' }, parts)
  for (const { asker, permission, length, why, approvedBy } of app.requests(ids)) {
    const body = v.parse(CreateAccessRequestInput, {
      ...of({ access_length: length, business_justification: why }),
      requestable_permission_ids: [permission.id],
    })
    const [made] = await createAccessRequest(tx, await actingAs(tx, principal, asker), body, parts)
    if (approvedBy !== undefined)
      await approve(tx, await actingAs(tx, principal, approvedBy), String(made?.id), parts)
  }
  return labels
}

/** Returns a principal that acts as another user. */
const actingAs = async (
  tx: Db,
  principal: Principal,
  { id: userId }: { id: string },
): Promise<Principal> => {
  const { domainId } = principal
  return { ...principal, ...(await callerOf(tx, { userId, domainId, readOnly: false })) }
}

async function approve(tx: Db, who: Principal, requestId: string, parts: RequestContext) {
  const [task] = await tx
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.accessRequestId, requestId), eq(tasks.status, 'PENDING')))
  if (task) await completeTask(tx, who, task.id, parts)
}

/** Creates the permission for a group of the directory as the sync will find it. */
async function groupPermission(
  tx: Db,
  { domainId }: Principal,
  appId: string,
  name: string,
  document: Record<string, unknown>,
): Promise<string> {
  const [row] = await tx
    .insert(requestablePermissions)
    .values({
      domainId,
      appId,
      label: name,
      type: 'SYNCED',
      visibility: document['appstore_visibility'] === 'VISIBLE' ? 'VISIBLE' : 'HIDDEN',
      entitlementType: 'GROUP',
      entitlementId: groupIdOf(name),
      resourceType: '',
      resourceId: '',
      document,
    })
    .returning({ id: requestablePermissions.id })
  return row?.id ?? ''
}

async function idsOf(tx: Db, { domainId, userId }: Principal): Promise<Omit<Ids, 'permission'>> {
  const everybody = await tx.select().from(users).where(eq(users.domainId, domainId))
  const all = await tx.select().from(groups).where(eq(groups.domainId, domainId))
  const byEmail = new Map(everybody.map(({ email, id }) => [email, id]))
  const byName = new Map(all.map(({ name, id }) => [name, id]))
  return {
    user: (email) => named(byEmail, email),
    group: (name) => named(byName, name),
    me: { id: userId },
  }
}

function named(ids: Map<string, string>, name: string): { id: string } {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`the sample company knows no ${JSON.stringify(name)}`)
  return { id }
}
