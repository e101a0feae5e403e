/** The company of one run: an app, people and their actions, hosts that process them, and a clock. */

import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Pool } from 'pg'
import { giveBackAll } from '../../../../runtime/core/asking/give-back.ts'
import { revokeAccess } from '../../../../runtime/core/asking/revoke.ts'
import { keepConnection } from '../../../../runtime/core/catalogue/apps/connections.ts'
import { workOn } from '../../../../runtime/core/kernel/background/turn.ts'
import type { RequestContext } from '../../../../runtime/core/kernel/context/context.ts'
import { timingOf } from '../../../../runtime/core/kernel/context/pace.ts'
import type { Principal } from '../../../../runtime/core/kernel/identity/principal.ts'
import { createTokenHasher } from '../../../../runtime/core/kernel/identity/token-hasher.ts'
import { cancelAccessRequest } from '../../../../runtime/core/requests/cancel.ts'
import { createRequest } from '../../../../runtime/core/requests/create.ts'
import { REQUEST_JOB } from '../../../../runtime/core/requests/job.ts'
import {
  completeTask,
  dismissTask,
  performTaskAction,
} from '../../../../runtime/core/task-actions/act.ts'
import { LISTENERS } from '../../../../runtime/core/wiring/listeners.ts'
import type { Db } from '../../../../runtime/database/database.ts'
import {
  type PermissionRow,
  requestablePermissions,
} from '../../../../runtime/database/schema/app_store.ts'
import { type AppRow, apps } from '../../../../runtime/database/schema/apps.ts'
import { userRoles, users } from '../../../../runtime/database/schema/people.ts'
import { accessRequests, type RequestRow } from '../../../../runtime/database/schema/requests.ts'
import { tasks } from '../../../../runtime/database/schema/tasks.ts'
import { statusOfRefusal } from '../../../../runtime/http/edge/statuses.ts'
import { createSealer } from '../../../../runtime/secrets/seal.ts'
import { createSigner } from '../../../../runtime/secrets/signing-key.ts'
import { createLife, killableDb } from './mortal.ts'
import { random } from './random.ts'
import { CONNECTOR, createSystem, type Outage } from './system.ts'

const vault = createSealer(['property-tests-'.repeat(3)], 'connection')
export const HOUR_MS = 3_600_000

/** The simulated clock of a run; timers advance it too. */
export const clock = { nowMs: Date.UTC(2030, 0, 1) }

export type World = Awaited<ReturnType<typeof createWorld>>

export async function createWorld(db: Db, domainId: string, seed: number) {
  // Cast: the type `Db` omits this member of drizzle's database.
  const { $client: pool } = db as unknown as { $client: Pool }
  // Requests of earlier runs must not become due.
  await db.update(accessRequests).set({ wakeAt: null }).where(isNotNull(accessRequests.wakeAt))
  const choose = random(seed)
  const consistencyMs = choose.one([0, 500, 4000])
  const system = createSystem(random(seed + 1), () => clock.nowMs, consistencyMs)
  const [app] = (await db
    .insert(apps)
    .values({
      domainId,
      appClassId: `model-${seed}`,
      instanceId: 'x',
      name: 'Model',
      connectorId: CONNECTOR,
    })
    .returning()) as [AppRow]
  await db
    .update(apps)
    .set({ sealedConnection: keepConnection(vault, app, { auth: {}, settings: {} } as never) })
    .where(eq(apps.id, app.id))
  const permissions: PermissionRow[] = await db
    .insert(requestablePermissions)
    .values(
      ['one', 'two'].map((entitlementId) => ({
        domainId,
        appId: app.id,
        label: entitlementId,
        type: 'SYNCED' as const,
        entitlementType: system.entitlementType,
        entitlementId,
        resourceType: '',
        resourceId: '',
        document: {},
      })),
    )
    .returning()
  const email = `person-${seed}@acme.example`
  const [person, boss] = (await db
    .insert(users)
    .values([email, `boss-${seed}@acme.example`].map((one) => ({ domainId, email: one })))
    .returning()) as [typeof users.$inferSelect, typeof users.$inferSelect]
  await db.insert(userRoles).values({ domainId, userId: boss.id, role: 'Admin' })
  const admin: Principal = {
    userId: boss.id,
    domainId,
    readOnly: false,
    roles: ['Admin'],
    permissions: new Set(['tasks.write', 'tasks.read']) as never,
    tokenId: '',
    usedLately: true,
  }
  // Access that existed before any request.
  const before = { account: choose.chance(0.3), entitlements: new Set<string>() }
  if (before.account) {
    const account = system.byHand.account(email)
    for (const { entitlementId } of permissions)
      if (choose.chance(0.4)) {
        before.entitlements.add(entitlementId ?? '')
        system.byHand.give(account, entitlementId ?? '')
      }
  }

  const sentJobs = new Set<string>()
  const story: string[] = []
  /** Probability that a call fails. */
  let failing = choose.one([0, 0.1, 0.4])
  const means = {
    now: async () => new Date(clock.nowMs),
    listeners: LISTENERS,
    pace: timingOf(),
    statusOfRefusal,
    // Jobs may get lost; due requests are found without them.
    deliver: {
      refuse: () => null,
      post: () => Promise.reject(new Error('this world has no webhooks')),
    },
    send: async (_tx: Db, _queue: string, key: string) => {
      if (choose.chance(0.7)) sentJobs.add(key)
    },
  }

  const all = (): Promise<RequestRow[]> =>
    db.select().from(accessRequests).where(eq(accessRequests.appId, app.id))
  const openTasks = () =>
    db
      .select()
      .from(tasks)
      .where(
        and(eq(tasks.appId, app.id), inArray(tasks.status, ['PENDING', 'ACCEPTED', 'BLOCKED'])),
      )

  async function create(approved = choose.chance(0.5)): Promise<void> {
    const permission = choose.chance(0.7) ? choose.one(permissions) : null
    const preapproved = approved ? 'always' : null
    const expirationInSeconds = choose.one([null, 60, 1800])
    story.push(`ask ${permission?.label ?? 'app'} for ${expirationInSeconds}`)
    await db.transaction((tx) =>
      createRequest(
        tx,
        admin,
        {
          app,
          permission,
          plan: { manager: false, stages: [], message: null, validationWebhook: null },
          requesterId: person.id,
          targetUserId: person.id,
          policyId: null,
          policyFor: null,
          expirationInSeconds,
          justification: null,
          preapproved,
        },
        means,
      ),
    )
  }

  /** Accepts a refusal: the state may have changed since the person looked. */
  const refusable = (work: Promise<unknown>) =>
    work.catch((error: Error) => {
      if (error.name !== 'CoreError' && !('kind' in error)) throw error
    })

  async function cancel(): Promise<void> {
    const rows = await all()
    if (rows.length === 0) return
    const { id } = choose.one(rows)
    story.push(`cancel ${id}`)
    await refusable(cancelAccessRequest(db, admin, id, null, means))
  }

  /** Revokes access as an admin, on a host that may be killed, or gives it back as its holder. */
  async function end(): Promise<void> {
    const rows = await all()
    if (rows.length === 0) return
    const { id } = choose.one(rows)
    const isRevoked = choose.chance(0.7)
    story.push(`${isRevoked ? 'revoke' : 'give back'} ${id}`)
    const mortality = createLife(choose.chance(0.4) ? 1 + choose.below(20) : Infinity)
    const host = killableDb(pool, mortality, choose)
    await refusable(
      isRevoked
        ? revokeAccess(host, admin, id, 'It was shared', means)
        : giveBackAll(host, { ...admin, userId: person.id }, id, means),
    ).catch((error: unknown) => {
      if (!mortality.dead) throw error
    })
    if (mortality.dead) story.push('died')
  }

  async function decide(): Promise<void> {
    const open = await openTasks()
    if (open.length === 0) return
    const task = choose.one(open)
    const isManual = task.taskType.startsWith('MANUAL_')
    if (task.accessRequestId === null || (isManual && choose.chance(0.3))) {
      story.push(`retry ${task.taskType} of ${task.accessRequestId}`)
      const retry = { action_type: 'retry', transition_to: undefined }
      await refusable(performTaskAction(db, admin, task.id, retry, means))
      return
    }
    const [request] = await db
      .select()
      .from(accessRequests)
      .where(eq(accessRequests.id, task.accessRequestId ?? ''))
    const yes = choose.chance(0.75)
    story.push(`${yes ? 'complete' : 'dismiss'} ${task.taskType} of ${request?.id}`)
    if (yes && request) await workByHand(task.taskType, request)
    await refusable((yes ? completeTask : dismissTask)(db, admin, task.id, means))
  }

  /** Does the manual work, because completing a task claims that it is done. */
  async function workByHand(type: string, { permissionId }: RequestRow): Promise<void> {
    const label = permissions.find(({ id }) => id === permissionId)?.entitlementId ?? null
    if (type === 'MANUAL_PROVISIONING') {
      const account = system.byHand.account(email)
      if (label !== null) system.byHand.give(account, label)
    }
    if (type === 'MANUAL_DEPROVISIONING')
      for (const account of system.accountsOf(email))
        if (label === null) system.byHand.close(account)
        else system.byHand.take(account, label)
  }

  /** A host runs a job and may be killed during it. */
  async function work(mayDie: boolean): Promise<void> {
    const keys = [...new Set([...sentJobs, ...(await REQUEST_JOB.due(db, new Date(clock.nowMs)))])]
    const own = keys.filter((key) => key.startsWith(app.id))
    if (own.length === 0) return
    const key = choose.one(own)
    sentJobs.delete(key)
    const mortality = createLife(mayDie && choose.chance(0.6) ? 1 + choose.below(60) : Infinity)
    const parts = {
      ...means,
      vault,
      signer: createSigner(['property-tests-'.repeat(3)]),
      hasher: createTokenHasher(['property-tests-'.repeat(3)]),
      connectors: system.connectors(
        () => failing,
        (what) => mortality.at(what),
      ),
      tell: () => {},
      requestId: 'r',
      cause: { kind: 'job', id: 'r' },
      signal: new AbortController().signal,
    } satisfies RequestContext
    const host = killableDb(pool, mortality, choose)
    story.push(`work, dies ${mayDie}`)
    await workOn(REQUEST_JOB, host, key, parts).catch((error: unknown) => {
      if (!mortality.dead) throw error
    })
    if (mortality.dead) story.push('died')
  }

  const step = (mayDie = true): Promise<void> => {
    const dice = choose.below(11)
    if (dice < 2) return create()
    if (dice < 3) return cancel()
    if (dice < 5) return decide()
    if (dice < 6) return end()
    if (dice < 7) {
      clock.nowMs += choose.one([1000, 60_000, HOUR_MS])
      return Promise.resolve()
    }
    return work(mayDie)
  }

  /** Stops all failures and advances the clock until no automatic work is left. */
  async function quiet(): Promise<void> {
    failing = 0
    for (let round = 0; round < 200; round += 1) {
      await work(false)
      const left = (await all()).filter(({ pendingOperation }) => pendingOperation !== null)
      const keys = await REQUEST_JOB.due(db, new Date(clock.nowMs))
      if (left.length === 0 && !keys.some((key) => key.startsWith(app.id))) {
        // Late writes become visible.
        clock.nowMs += 60_000
        return
      }
      if (keys.length === 0) clock.nowMs += 60_000
    }
    throw new Error('a request still has pending work after 200 rounds')
  }

  /** An outage of the given length, during which requests are made and expire; nothing else fails. */
  async function outage(how: Outage, lengthMs: number): Promise<void> {
    failing = 0
    const endMs = clock.nowMs + lengthMs
    system.fails(how)
    story.push(`${how.code} for ${lengthMs} ms`)
    for (let looks = 0; looks < 60 && clock.nowMs < endMs; looks += 1) {
      if (choose.chance(0.1)) await create(true)
      await work(false)
      clock.nowMs += choose.one([500, lengthMs / 40, lengthMs / 20])
    }
    clock.nowMs = Math.max(clock.nowMs, endMs)
    system.fails(null)
    story.push('the outage is over')
  }

  return {
    db,
    outage,
    work,
    step,
    quiet,
    create,
    all,
    openTasks,
    system,
    before,
    email,
    permissions,
    story,
    choose,
  }
}
