/** Syncs with faults of their upstream, their connector or their app. */
import { setTimeout as pause } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { tasks } from '../../../runtime/database/schema/tasks.ts'
import { killDatabase } from '../../database/kill.ts'
import { until } from '../../e2e/until.ts'
import { shows } from '../../symptoms.ts'
import { type CoreHost, person, QUICK_PACE } from '../host.ts'
import {
  accountsOf,
  ask,
  associationsOf,
  connect,
  deleteApps,
  ended,
  latestRun,
  makeRetriesDue,
  startSynced,
  statusOf,
  sync,
  trigger,
} from './synced.ts'
import {
  account,
  association,
  entitlement,
  hang,
  KINDS,
  startUpstream,
  type Upstream,
} from './upstream.ts'

const ids = Array.from({ length: 40 }, (_, n) => `a${String(n).padStart(2, '0')}`)
const everything = () => ({
  accounts: ids.map((id) => account(id)),
  resources: [],
  entitlements: [entitlement('g0'), entitlement('g1')],
  associations: ids.map((id) => association(id, 'g0')),
  activity: [],
})

let upstream: Upstream
let core: CoreHost
let appId: string

beforeAll(async () => {
  upstream = await startUpstream()
  core = await startSynced(upstream, { server: 'own', pace: QUICK_PACE })
})
afterAll(async () => {
  await core.stop()
  await upstream.close()
})
beforeEach(async () => {
  await core.db.delete(tasks)
  await deleteApps(core)
  upstream.before = () => undefined
  upstream.next = () => undefined
  upstream.restarting.clear()
  upstream.hidden = []
  upstream.holds = everything()
  appId = await connect(core, upstream)
})

const openTasks = () =>
  ask<{ category: string; description: string; status: string }>(
    core,
    sql`select task_category as category, description, status from tasks where app_id = ${appId}`,
  )

const listedIds = async () =>
  (await accountsOf(core, appId)).filter(({ gone }) => !gone).map(({ id }) => id)

const texts = (members: number) =>
  Object.fromEntries(Array.from({ length: members }, (_, n) => [`m${n}`, 'x']))

/** An account with this many custom attributes. */
const heavy = (id: string, members: number) => account(id, { custom_attributes: texts(members) })

describe('pages that are too large for the host', () => {
  test('are requested again as smaller pages, and the run completes', async () => {
    upstream.holds.accounts = ids.map((id) => heavy(id, 1000))
    await trigger(core, appId)
    const run = await ended(core, appId)
    expect(run).toMatchObject({ state: 'SUCCEEDED', problem: null, attempts: 0 })
    expect(await listedIds()).toEqual(ids)
    expect(upstream.asked.filter((one) => one.startsWith('accounts ')).length).toBeGreaterThan(4)
  })

  test('do not include pages with large extra data, which is not read', async () => {
    const pagesOf = async (more: object) => {
      upstream.holds.accounts = ids.map((id) => account(id, more))
      upstream.asked.length = 0
      await trigger(core, appId)
      expect(await ended(core, appId)).toMatchObject({ state: 'SUCCEEDED', problem: null })
      // A busy machine may end a call within a page, which is then requested again.
      return new Set(upstream.asked.filter((one) => one.startsWith('accounts '))).size
    }
    const plain = await pagesOf({})
    expect(await pagesOf({ extra_data: texts(1000) })).toBe(plain)
    expect(await listedIds()).toEqual(ids)
  })

  test('fail the run if a single item is too large, with a message that says what to do', async () => {
    upstream.holds.accounts = [heavy('a00', 40_000)]
    await trigger(core, appId)
    const run = await ended(core, appId)
    expect(run.state).toBe('FAILED')
    expect(run.problem).toMatch(/list_accounts.*too large.*smaller pages/)
  })
})

/** Level and message of the log lines about the app, from a line on. */
const toldOfApp = (from: number) =>
  core.lines
    .slice(from)
    .map((line) => JSON.parse(line))
    .filter(({ app_id, msg }) => app_id === appId && /the system of an app|a sync /.test(msg))
    .map(({ level, msg }) => [LEVELS[level as keyof typeof LEVELS] ?? level, msg])
const LEVELS = { 30: 'info', 40: 'warn', 50: 'error' } as const

describe('a failing upstream', () => {
  test.each(KINDS)('at %s is retried, and the run continues from there', async (kind) => {
    let failures = 0
    upstream.before = (asked) => {
      if (asked !== kind || failures >= 3) return undefined
      failures += 1
      return { status: 503, code: 'service_error' }
    }
    const run = await sync(core, appId)
    expect([run.state, run.attempts, failures]).toEqual(['SUCCEEDED', 0, 3])
    expect(await openTasks()).toEqual([])
  })

  test('delays the next try, shows the reason, and is logged with its recovery', async () => {
    upstream.before = () => ({ status: 503, code: 'service_error' })
    const from = core.lines.length
    await trigger(core, appId)
    await until(
      'the run has failed once',
      async () => (await latestRun(core, appId)).problem !== null,
    )
    const run = await latestRun(core, appId)
    expect(run.problem).toMatch(/^list_accounts: .*\(service_error\)$/)
    expect(run.nextTryAt?.getTime()).toBeGreaterThan(Date.now())
    await until('the outage is logged', async () => {
      await makeRetriesDue(core)
      return toldOfApp(from).length > 0
    })
    upstream.before = () => undefined
    await ended(core, appId)
    expect(toldOfApp(from)).toEqual([
      ['warn', 'the system of an app does not answer; the app is paused until it does'],
      ['info', 'the system of an app answers again; paused work continues'],
    ])
  })

  test('with Retry-After is not called for that time, and waiting does not count as a try', async () => {
    await deleteApps(core)
    // With its own token, because the connector's calls to the upstream are paused as well.
    appId = await connect(core, upstream, 'a-token-that-waits')
    upstream.before = () => ({ status: 503, code: 'service_error', retryAfter: '3600' })
    await trigger(core, appId)
    await until(
      'the run has failed once',
      async () => (await latestRun(core, appId)).problem !== null,
    )
    const run = await latestRun(core, appId)
    const waitsMs = (run.nextTryAt?.getTime() ?? 0) - Date.now()
    expect([run.state, run.attempts]).toEqual(['RUNNING', 0])
    const { body } = await core.call('GET', `/operator/syncs?app_id=${appId}`)
    shows('`keyway syncs` shows `next_try_at`', body)
    expect(Date.parse(body.items[0].next_try_at)).toBe(run.nextTryAt?.getTime())
    expect(waitsMs).toBeGreaterThan(3_400_000)
    expect(waitsMs).toBeLessThanOrEqual(3_600_000)
    const asked = upstream.asked.length
    await core.db.execute(sql`update sync_runs set next_try_at = null`)
    await until(
      'the run waits again',
      async () => (await latestRun(core, appId)).nextTryAt !== null,
    )
    // The app is paused for all work: nothing was sent.
    expect(upstream.asked).toHaveLength(asked)
  })

  test('that stays down fails the run, keeps the data, and has one task until a sync succeeds', async () => {
    await sync(core, appId)
    upstream.holds.accounts = []
    upstream.before = (kind) =>
      kind === 'associations' ? { status: 500, code: 'api_error' } : undefined
    const from = core.lines.length
    for (const _ of [1, 2]) {
      const run = await sync(core, appId)
      expect([run.state, run.attempts]).toEqual(['FAILED', 7])
    }
    const failed = ['warn', 'a sync failed; its run has the reason']
    expect(toldOfApp(from)).toEqual([failed, failed])
    expect(await statusOf(core, appId)).toBe('FAILED')
    expect(await listedIds()).toEqual(ids)
    expect(await associationsOf(core, appId)).toHaveLength(40)
    expect(await openTasks()).toMatchObject([
      { category: 'ERROR', status: 'PENDING', description: expect.stringMatching(/api_error/) },
    ])
    upstream.before = () => undefined
    upstream.holds = everything()
    expect((await sync(core, appId)).state).toBe('SUCCEEDED')
    expect(await openTasks()).toMatchObject([{ status: 'COMPLETED' }])
    expect(await statusOf(core, appId)).toBe('SUCCESS')
  })

  test('that refuses the credentials is not retried', async () => {
    upstream.before = () => ({ status: 401, code: 'unauthenticated' })
    const run = await sync(core, appId)
    expect([run.state, run.attempts, run.problem]).toEqual([
      'FAILED',
      0,
      expect.stringMatching(/unauthenticated/),
    ])
  })

  test('that lists more than max_rows fails the run', async () => {
    const settings = { max_rows: 30, page_size: 10 }
    await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
    const run = await sync(core, appId)
    expect([run.state, run.problem]).toEqual(['FAILED', expect.stringMatching(/more than 30 rows/)])
  })

  test.each(['accounts', 'entitlements', 'associations'] as const)(
    'that lists %s again and again under new tokens fails the run, with a task that says why',
    async (kind) => {
      const settings = { page_size: 40 }
      await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
      upstream.holds.entitlements = ids.map((_, n) => entitlement(`g${n}`))
      upstream.restarting.add(kind)
      const run = await sync(core, appId)
      const seen = new RegExp(`^The listing of ${kind} repeats itself: of \\d+ rows, 40 were new`)
      expect([run.state, run.phase, run.problem]).toEqual([
        'FAILED',
        kind,
        expect.stringMatching(seen),
      ])
      shows('a sync is `FAILED`', run)
      // About ten times the existing rows, not the millions that an operator allows.
      expect(run.counts['rows']).toBeLessThan(1500)
      expect(await openTasks()).toMatchObject([
        {
          category: 'ERROR',
          status: 'PENDING',
          description: expect.stringMatching(/repeats itself/),
        },
      ])
    },
  )

  test('that repeats itself for a time is listed to its end if an operator allows repeats', async () => {
    const settings = { page_size: 40, max_repeated_percent: 100 }
    await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
    let pages = 0
    upstream.restarting.add('accounts')
    upstream.before = (kind) => {
      if (kind === 'accounts' && ++pages === 60) upstream.restarting.clear()
      return undefined
    }
    const run = await sync(core, appId)
    expect([run.state, run.counts['accounts_repeated']]).toEqual(['SUCCEEDED', 58 * 40])
  })

  test('that returns the token of an earlier page fails the run', async () => {
    const settings = { page_size: 10 }
    await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
    upstream.next = (kind, cursor) => (kind === 'accounts' && cursor === '30' ? '10' : undefined)
    const run = await sync(core, appId)
    expect([run.state, run.attempts, run.problem]).toEqual([
      'FAILED',
      0,
      expect.stringMatching(/would never end/),
    ])
  })

  test('creates a task for the admins of the app, if it has any', async () => {
    const owner = await person(core.db, `owner${Date.now()}@example.com`, ['App Admin'])
    await core.db
      .update(apps)
      .set({ adminUserIds: [owner.id] })
      .where(eq(apps.id, appId))
    upstream.before = () => ({ status: 401, code: 'unauthenticated' })
    await sync(core, appId)
    const { items } = (await core.call('GET', '/tasks?status=PENDING', { token: owner.token })).body
    expect(items).toMatchObject([{ task_category: 'ERROR', task_type: 'SYNC_ERROR' }])
  })
})

describe('when suspiciously many rows are missing', () => {
  test('the run stops, marks nothing as gone, and can be accepted by an operator', async () => {
    await sync(core, appId)
    upstream.holds.accounts = everything().accounts.slice(0, 20)
    const run = await sync(core, appId)
    expect([run.state, run.problem]).toEqual([
      'STOPPED',
      expect.stringMatching(/^20 of 40 accounts are missing/),
    ])
    expect([await statusOf(core, appId), (await listedIds()).length]).toEqual(['FAILED', 40])
    expect(await openTasks()).toMatchObject([
      { category: 'ERROR', description: expect.stringMatching(/stopped: 20 of 40/) },
    ])
    shows('a sync is `STOPPED`', run)
    const path = `/operator/syncs/${run.id}/accept`
    const dry = await core.call('POST', path, { body: { dry_run: true } })
    expect([dry.status, dry.body.state]).toEqual([200, 'STOPPED'])
    expect((await core.call('POST', path, { body: {} })).status).toBe(200)
    const again = await ended(core, appId)
    expect([again.id, again.state]).toEqual([run.id, 'SUCCEEDED'])
    expect(await listedIds()).toEqual(ids.slice(0, 20))
    expect(await openTasks()).toMatchObject([{ status: 'COMPLETED' }])
    expect((await core.call('POST', path, { body: {} })).status).toBe(409)
    expect((await core.call('POST', '/operator/syncs/x/accept', { body: {} })).status).toBe(404)
  })

  test('the next run succeeds if it finds them again', async () => {
    await sync(core, appId)
    upstream.holds.associations = []
    expect((await sync(core, appId)).problem).toMatch(/40 of 40 associations/)
    expect(await associationsOf(core, appId)).toHaveLength(40)
    const stopped = await latestRun(core, appId)
    upstream.holds = everything()
    expect((await sync(core, appId)).state).toBe('SUCCEEDED')
    const late = await core.call('POST', `/operator/syncs/${stopped.id}/accept`, { body: {} })
    expect([late.status, late.body.error?.message]).toEqual([
      409,
      expect.stringMatching(/has started since/),
    ])
  })

  test('a quarter of the rows is accepted as missing, but not all of them', async () => {
    await sync(core, appId)
    upstream.holds.accounts = everything().accounts.slice(0, 30)
    expect((await sync(core, appId)).state).toBe('SUCCEEDED')
    upstream.holds.accounts = []
    upstream.holds.associations = []
    expect((await sync(core, appId)).state).toBe('STOPPED')
  })
})

describe('an app', () => {
  test('that is disconnected during a sync fails the run, and can be synced once reconnected', async () => {
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<undefined>()
    upstream.before = (kind) => {
      if (kind !== 'entitlements') return undefined
      asked.resolve()
      return held.promise
    }
    await trigger(core, appId)
    await asked.promise
    expect((await core.call('DELETE', `/apps/${appId}`)).status).toBe(200)
    held.resolve(undefined)
    const run = await ended(core, appId)
    expect([run.state, run.problem]).toEqual(['FAILED', 'The app was disconnected'])
    expect([await statusOf(core, appId), await openTasks()]).toEqual([null, []])
    upstream.before = () => undefined
    expect(await connect(core, upstream)).toBe(appId)
    expect((await sync(core, appId)).state).toBe('SUCCEEDED')
  })

  test('that is reconnected during a sync is listed with its new credentials', async () => {
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<undefined>()
    const used: string[] = []
    let isNew = false
    upstream.before = (kind, _cursor, authorization) => {
      if (isNew) used.push(authorization)
      if (kind !== 'entitlements' || isNew) return undefined
      asked.resolve()
      return held.promise
    }
    await trigger(core, appId)
    await asked.promise
    expect((await core.call('DELETE', `/apps/${appId}`)).status).toBe(200)
    expect(await connect(core, upstream, 'another-token-for-tests')).toBe(appId)
    isNew = true
    held.resolve(undefined)
    expect((await ended(core, appId)).state).toBe('SUCCEEDED')
    expect(new Set(used)).toEqual(new Set(['Bearer another-token-for-tests']))
  })

  test('cannot be reconnected with PUT while its sync runs', async () => {
    const held = Promise.withResolvers<undefined>()
    upstream.before = () => held.promise
    await trigger(core, appId)
    const body = { app_class_id: 'synced', auth: { token: 'another-token-for-tests' } }
    const reply = await core.call('PUT', `/apps/${appId}`, { body })
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '10'])
    held.resolve(undefined)
    await ended(core, appId)
  })

  test('whose sync is cancelled keeps the rows written so far, and loses no others', async () => {
    await sync(core, appId)
    const settings = { page_size: 10 }
    await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings } })
    upstream.holds.accounts = [account('new'), ...ids.slice(0, 20).map((id) => account(id))]
    const asked = Promise.withResolvers<void>()
    upstream.before = (kind, cursor) => {
      if (kind !== 'accounts' || cursor !== '10') return undefined
      asked.resolve()
      return hang()
    }
    await trigger(core, appId)
    await asked.promise
    await until('the first page is written', async () => (await listedIds()).includes('new'))
    const { id } = await latestRun(core, appId)
    const cancel = `/operator/syncs/${id}/cancel`
    const dry = await core.call('POST', cancel, { body: { dry_run: true } })
    expect([dry.status, dry.body.state]).toEqual([200, 'RUNNING'])
    const reply = await core.call('POST', cancel, { body: {} })
    expect([reply.status, reply.body.state, reply.body.counts.accounts]).toEqual([
      200,
      'CANCELLED',
      10,
    ])
    expect(await statusOf(core, appId)).toBe('SUCCESS')
    expect(await listedIds()).toEqual([...ids, 'new'])
    expect((await core.call('POST', cancel, { body: {} })).status).toBe(409)
    const none = await core.call('POST', '/operator/syncs/123456789/cancel', { body: {} })
    expect(none.status).toBe(404)
    // The host that ran it is free again, and the next sync is complete.
    upstream.before = () => undefined
    upstream.holds.accounts = [...everything().accounts, account('new')]
    const next = await sync(core, appId)
    expect([next.state, next.counts['accounts']]).toEqual(['SUCCEEDED', 41])
  })

  test('whose connector is disabled during a sync is synced once it is enabled again', async () => {
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<undefined>()
    upstream.before = (kind) => {
      if (kind !== 'entitlements') return undefined
      asked.resolve()
      return held.promise
    }
    await trigger(core, appId)
    await asked.promise
    const at = '/operator/connectors/synced'
    expect((await core.call('POST', `${at}/disable`, { body: { at_once: true } })).status).toBe(200)
    held.resolve(undefined)
    await until('the run has failed once', async () => (await latestRun(core, appId)).attempts > 0)
    expect((await core.call('POST', `${at}/enable`, { body: {} })).status).toBe(200)
    upstream.before = () => undefined
    expect((await ended(core, appId)).state).toBe('SUCCEEDED')
  })

  test('is synced by its schedule, unless that is off', async () => {
    const at = `/operator/apps/${appId}/sync`
    expect((await core.call('GET', at)).body).toMatchObject({ every_hours: 24, next_at: null })
    expect((await core.call('PUT', at, { body: { settings: { every_hours: 0 } } })).status).toBe(
      200,
    )
    await core.db.execute(sql`update apps set created_at = now() - interval '25 hours'`)
    await pause(5 * QUICK_PACE.lookMs)
    await expect(latestRun(core, appId)).rejects.toThrow('never synced')
    await core.call('PUT', at, { body: { settings: { every_hours: 1 } } })
    await core.db.execute(sql`update sync_settings set next_at = now()`)
    await until('a run has begun', () => latestRun(core, appId).catch(() => null))
    const run = await ended(core, appId)
    expect([run.state, run.userId]).toEqual(['SUCCEEDED', null])
  })
})

test('a sync completes although its database is killed midway', {
  timeout: 90_000,
}, async () => {
  await core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings: { page_size: 5 } } })
  const asked = Promise.withResolvers<void>()
  upstream.before = (kind, cursor) => {
    if (kind === 'associations' && cursor === '10') asked.resolve()
    return undefined
  }
  await trigger(core, appId)
  await asked.promise
  killDatabase(core.host.databasePid())
  const run = await until('the sync has ended', async () => {
    const found = await ended(core, appId, 1000).catch(() => null)
    return found
  })
  expect(run.state).toBe('SUCCEEDED')
  expect(await associationsOf(core, appId)).toHaveLength(40)
})
