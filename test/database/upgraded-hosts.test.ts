/**
 * Runs whole hosts on stored databases of released versions: work that had started continues, also in the
 * connected systems. upgrades.test.ts checks that the migrations keep all data.
 */
import { sql } from 'drizzle-orm'
import type { ClientConfig } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import { createToken } from '../../runtime/core/kernel/identity/tokens.ts'
import type { EmbeddedDatabase } from '../../runtime/database/embedded.ts'
import { SAMPLE_TOKEN } from '../../runtime/sample/tenants.ts'
import { type Directory, startDirectory } from '../core/directory.ts'
import { type CoreHost, startCore } from '../core/host.ts'
import { type BadSystem, startBadSystem } from '../core/requests/faults/bad-system.ts'
import { until } from '../e2e/until.ts'
import { ownServer } from '../kit/own-server.ts'
import { besideOf, loadKept, moveSystems, SECRET, STATES, TOKEN, withClient } from './kept.ts'

let server: EmbeddedDatabase
let system: BadSystem
beforeAll(async () => {
  server = (await ownServer()).server
  system = await startBadSystem()
})
afterAll(() => system.close())

/** A ready host on a stored database. */
async function upgraded(connection: ClientConfig, env: Record<string, string>): Promise<CoreHost> {
  const { host, user, password, database } = connection
  const core = await startCore({
    ...env,
    KEYWAY_REQUESTS_PER_MINUTE: '100000',
    KEYWAY_SECRET: SECRET,
    KEYWAY_ADMIN_TOKEN: TOKEN,
    DATABASE_URL: `postgres://${user}:${password}@/${database}?host=${host}`,
  })
  const call = core.call
  core.call = (method, target, options) => call(method, target, { token: TOKEN, ...options })
  await core.host.settled
  return core
}

const items = async (core: CoreHost, target: string) => (await core.call('GET', target)).body.items

/** The connected apps. */
const connected = async ({ db }: CoreHost): Promise<{ id: string; name: string }[]> =>
  (
    await db.execute<{ id: string; name: string }>(
      sql`select id, name from apps where sealed_connection is not null order by name`,
    )
  ).rows

/** A new token of an assignee: the person who made a request cannot decide it. */
async function tokenOfAssignee({ db }: CoreHost, taskId: string): Promise<string> {
  const { rows } = await db.execute<{ userId: string; domainId: string }>(
    sql`select u.id as "userId", u.domain_id as "domainId" from task_assignees a
      left join group_members m on m.group_id = a.group_id
      join users u on u.id = coalesce(a.user_id, m.user_id)
      where a.task_id = ${taskId} order by u.email <> 'admin@localhost', u.email limit 1`,
  )
  const [who] = rows
  if (!who) throw new Error('no approver is expected')
  const about = { name: 'test', description: '', expiresAt: null, readOnly: false }
  return (await createToken(db, createTokenHasher([SECRET]), { ...who, ...about })).token
}

async function synced(core: CoreHost, appId: string): Promise<void> {
  const { status } = await core.call('POST', `/apps/${appId}/sync`, {
    body: { sync_type: 'full_sync' },
  })
  expect(status).toBeLessThan(300)
  await until('the app is synced', async () => {
    const [run] = await items(core, `/operator/syncs?app_id=${appId}`)
    if (!['SUCCEEDED', 'RUNNING', 'PENDING', 'QUEUED'].includes(run?.state))
      throw new Error(JSON.stringify(run))
    return run.state === 'SUCCEEDED'
  })
}

const statusOf = async (core: CoreHost, id: string): Promise<string> =>
  (await core.call('GET', `/appstore/access_requests/${id}`)).body.status

const untilRequestIs = (core: CoreHost, id: string, status: string) =>
  until(`a request is ${status}`, async () => (await statusOf(core, id)) === status)

/** Completes the open tasks of a request as their assignees, until the request ends. */
async function completeTasks(core: CoreHost, id: string): Promise<void> {
  await until('the request has no pending task', async () => {
    const [task] = await items(
      core,
      `/tasks?show_all_tasks=true&access_request_id=${id}&status=PENDING`,
    )
    if (task) {
      const { status } = await core.call('POST', `/tasks/${task.id}/complete`, {
        token: await tokenOfAssignee(core, task.id),
      })
      // 409: the request has ended in between because the access was provisioned.
      expect([204, 409]).toContain(status)
    }
    return /COMPLETED|EXPIRED/.test(await statusOf(core, id))
  })
}

/** Waits until no job that is due is left in the queue. */
async function untilNoJobIsDue({ db }: CoreHost): Promise<void> {
  await until('no due job is pending', async () => {
    const { rows } = await db.execute<{ n: string }>(
      sql`select count(*) as n from jobs.job where state in ('created', 'retry') and start_after < now() - interval '5 seconds'`,
    )
    return rows[0]?.n === '0'
  })
}

/** States before the tables of 0021: the sample company, and older. */
const SAMPLES = STATES.filter((state) => state < '0021')

/**
 * What can be requested there, and for how long: the permission of a group where the version has them, else
 * one that is provisioned by hand.
 */
const ASKED: Record<string, { label: string; seconds: number }> = {
  '0011': { label: 'editor', seconds: 604_800 },
  '0013': { label: 'office', seconds: 7200 },
  '0017': { label: 'office', seconds: 7200 },
}

/** A host on a stored database whose apps use the sample directory. */
async function overDirectory(state: string, directory: Directory): Promise<CoreHost> {
  const connection = await loadKept(server.connection, state)
  const { host } = new URL(directory.app.settings.base_url)
  await moveSystems(connection, (was) => was.replace(new URL(was).host, host))
  return upgraded(connection, { KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}` })
}

describe.each(SAMPLES)('a host over a database of migration %s', (state) => {
  let core: CoreHost
  // One per state: grants by the policies of an earlier state must not count here.
  let directory: Directory
  beforeAll(async () => {
    directory = await startDirectory()
    core = await overDirectory(state, directory)
  })
  afterAll(async () => {
    await core?.stop()
    await directory.close()
  })

  test('is ready, and has its token, its people and its apps', async () => {
    await until('the host is ready', async () => {
      const ready = await core.host.app.request('/readyz', { headers: { host: 'localhost' } })
      return ready.status === 200
    })
    expect((await core.call('GET', '/users/current')).body.email).toBe('admin@localhost')
    const [{ n } = { n: '' }] = (
      await core.db.execute<{ n: string }>(sql`select count(*) as n from users`)
    ).rows
    expect((await core.call('GET', '/users?size=1')).body.total).toBe(Number(n))
    expect((await items(core, '/apps?size=50')).length).toBe((await connected(core)).length)
  })

  test('syncs its apps with their stored credentials', async () => {
    for (const { id } of await connected(core)) {
      await synced(core, id)
      expect((await core.call('GET', `/accounts?app_id=${id}&size=1`)).body.total).toBe(250)
    }
    await untilNoJobIsDue(core)
  })

  test('completes earlier requests and a new one', async () => {
    const { rows } = await core.db.execute<{ id: string }>(sql`select id from access_requests`)
    for (const { id } of rows) await completeTasks(core, id)
    const studio = (await connected(core)).find(({ name }) => name === 'Design Studio')
    if (!studio) return expect(rows).toEqual([])
    const { label, seconds } = ASKED[state] ?? { label: '', seconds: 0 }
    const [hana] = await items(core, '/users?search_term=hana')
    const [permission] = await items(
      core,
      `/appstore/requestable_permissions?app_id=${studio.id}&search_term=${label}`,
    )
    const asked = await core.call('POST', '/appstore/access_request', {
      body: {
        app_id: studio.id,
        requester_user_id: hana.id,
        requestable_permission_ids: [permission.id],
        expiration_in_seconds: seconds,
      },
    })
    expect([asked.status, JSON.stringify(asked.body)]).toEqual([201, expect.anything()])
    await completeTasks(core, asked.body[0].id)
    if (label !== 'office') return
    const group = await fetch(
      new URL('/design/scim/Groups/g-12', directory.app.settings.base_url),
      { headers: { authorization: `Bearer ${SAMPLE_TOKEN}` } },
    )
    expect(await group.text()).toContain('"u-021"')
  })

  test('grants by its policies once an admin has enabled those that the upgrade paused', async () => {
    const kept = (await items(core, '/access_policies')).filter(
      ({ status }: { status: string }) => status === 'PUBLISHED',
    )
    for (const { id } of kept) {
      const { id: _, ...policy } = (await core.call('GET', `/access_policies/${id}`)).body
      const body = { ...policy, is_enabled: true }
      expect(await core.call('PUT', `/access_policies/${id}`, { body })).toMatchObject({
        status: 200,
      })
      await until('the policy grants access', async () => {
        const { rows } = await core.db.execute<{ n: string }>(
          sql`select count(*) as n from access_requests where policy_id = ${id}`,
        )
        return Number(rows[0]?.n) > 0
      })
    }
  })

  test('serves its log as it was written', async () => {
    const untouched = await loadKept(server.connection, state, `log_of_${state}`)
    const written = await withClient(untouched, async (client) => {
      const { rows } = await client.query(
        'select event_hash, event_type, outcome, event_metadata from activity_logs order by id limit 100',
      )
      return rows
    })
    expect(written.length > 0).toBe(state !== '0000')
    const { status, body } = await core.call('GET', '/activity_logs?limit=100')
    expect(status).toBe(200)
    expect(body.items.slice(0, written.length)).toMatchObject(written)
  })
})

/** States with requests in every status, whose system was unavailable when the host ended. */
const WHOLE = STATES.filter((state) => state >= '0021' && state < '0036')

/** Status that requests of a state reach by themselves; all others keep theirs. */
const GOES_ON: Record<string, string> = {
  PENDING_PROVISIONING: 'COMPLETED',
  PENDING_DEPROVISIONING: 'TIME_BASED_EXPIRED',
  REVERTING: 'REVERTED',
  COMPLETED_FOR_A_TIME: 'COMPLETED',
  OF_A_POLICY: 'COMPLETED',
}

describe.each(WHOLE)(
  'a host over a database of migration %s, with requests in every state',
  (state) => {
    const { requests, session, token, accounts, held } = besideOf(state)
    let core: CoreHost
    beforeAll(async () => {
      const connection = await loadKept(server.connection, state)
      await moveSystems(connection, () => system.app.settings.base_url)
      system.accounts.clear()
      for (const { id, email, status } of accounts)
        system.accounts.set(id, { email, status, atMs: 0 })
      system.held.clear()
      for (const key of held) system.held.set(key, { atMs: 0 })
      core = await upgraded(connection, system.env)
    })
    afterAll(() => core?.stop())

    test('continues every request', async () => {
      for (const [was, id] of Object.entries(requests))
        await untilRequestIs(core, id, GOES_ON[was] ?? was)
      const { rows } = await core.db.execute<{ email: string; status: string }>(
        sql`select u.email, r.status from access_requests r join users u on u.id = r.target_user_id`,
      )
      const wrong = rows.filter(({ email, status }) => {
        const [[, account] = []] = system.accountsOf(email)
        if (status === 'COMPLETED') return account?.status !== 'ACTIVE'
        // Nobody does the manual tasks here.
        return /^(REVERTED|TIME_BASED_EXPIRED)$/.test(status) && account?.status === 'ACTIVE'
      })
      expect(wrong).toEqual([])
      for (const { email } of rows) expect(system.accountsOf(email).length).toBeLessThan(2)
      await untilNoJobIsDue(core)
    })

    test('lets people decide the requests that waited for them', async () => {
      const waiting = Object.entries(requests).filter(([was]) => /^PENDING_(MAN|APP)/.test(was))
      expect(waiting).toHaveLength(4)
      for (const [, id] of waiting) await completeTasks(core, id)
    })

    test("accepts a person's token, and a session on the pages", async () => {
      const me = await core.call('GET', '/users/current', { token })
      expect(me.body.email).toBe('token@acme.example')
      const page = (cookie: string) =>
        core.host.app.request('/settings/api-tokens', {
          headers: { host: 'localhost', cookie: `keyway_session=${cookie}` },
        })
      expect((await page(session)).status).toBe(200)
      expect((await page(`${session}x`)).status).not.toBe(200)
    })

    test('syncs its app', async () => {
      const [app] = await connected(core)
      await synced(core, app?.id ?? '')
    })

    test('removes access by its policy when the policy is disabled', async () => {
      const [policy] = await items(core, '/access_policies')
      const { id, ...before } = (await core.call('GET', `/access_policies/${policy.id}`)).body
      const body = { ...before, is_enabled: false }
      expect((await core.call('PUT', `/access_policies/${id}`, { body })).status).toBe(200)
      await untilRequestIs(core, requests['OF_A_POLICY'] ?? '', 'REVERTED')
    })
  },
)

/**
 * States of the sample company with a row in every table: reviews, findings, delegations, mail, sign-in and
 * all later ones.
 */
const FULL = STATES.filter((state) => state >= '0036')

/** Endpoints of lists -> the migration since which the stored databases have rows in them. */
const LISTS: Readonly<Record<string, string>> = {
  '/findings': '0036',
  '/separation_of_duties': '0036',
  '/access_reviews': '0036',
  '/lifecycle-management/user-offboardings': '0036',
  '/access_policies': '0036',
  '/expenses': '0042',
  '/scim_tokens': '0042',
  '/break_glass': '0042',
}

describe.each(FULL)(
  'a host over a database of migration %s, with a row in every table',
  (state) => {
    let core: CoreHost
    let directory: Directory
    beforeAll(async () => {
      directory = await startDirectory()
      core = await overDirectory(state, directory)
    })
    afterAll(async () => {
      await core?.stop()
      await directory.close()
    })

    const one = async <T extends Record<string, unknown>>(question: ReturnType<typeof sql>) => {
      const { rows } = await core.db.execute<T>(question)
      return rows[0]
    }

    test('serves every list with its rows', async () => {
      const there = Object.entries(LISTS).filter(([, since]) => since <= state)
      for (const [target] of there) {
        const { status, body } = await core.call('GET', `${target}?size=5`)
        expect({ target, status, some: body.items?.length > 0 }).toEqual({
          ...{ target, status: 200, some: true },
        })
      }
    })

    test('chains events of the log that were not chained yet', async () => {
      await until('the log is chained', async () => {
        const left = await one<{ n: string }>(sql`select count(*) as n from activity_waiting`)
        return left?.n === '0'
      })
      expect(
        (await core.call('GET', '/activity_logs?event_type=HOST_STARTED')).body.items,
      ).toHaveLength(1)
    })

    test('continues a review and keeps the decisions of its reviewers', async () => {
      const review = await one<{ id: string }>(
        sql`select id from access_reviews where name = 'Who uses the Data Warehouse'`,
      )
      const states = async () => {
        const { rows } = await core.db.execute<{ state: string; n: string }>(
          sql`select state, count(*) as n from access_review_items where review_id = ${review?.id} group by state`,
        )
        return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]))
      }
      const before = await states()
      expect(before).toMatchObject({ KEPT: 2, REJECTED: 3 })
      const line = await one<{ id: string; userId: string; domainId: string }>(
        sql`select i.id, a.user_ids[1] as "userId", i.domain_id as "domainId" from access_review_items i
        join access_review_assignments a on a.id = i.assignment_id
        where i.review_id = ${review?.id} and i.state = 'OPEN' and cardinality(a.user_ids) > 0 order by i.id limit 1`,
      )
      if (line === undefined) throw new Error('no line is pending for a reviewer')
      const about = { name: 'test', description: '', expiresAt: null, readOnly: false }
      const { userId, domainId } = line
      const { token } = await createToken(core.db, createTokenHasher([SECRET]), {
        ...{ userId, domainId },
        ...about,
      })
      const body = { decision: 'KEEP', reason: 'Still needed', item_ids: [line.id] }
      const decided = await core.call('POST', `/access_reviews/${review?.id}/items/decide`, {
        body,
        token,
      })
      expect(decided.body).toMatchObject({ decided: 1, results: [{ state: 'KEPT', error: null }] })
      expect(await states()).toMatchObject({ ...before, KEPT: 3, OPEN: (before['OPEN'] ?? 0) - 1 })
    })

    test('syncs its apps with their stored credentials, and keeps all accounts', async () => {
      for (const { id } of await connected(core)) {
        await synced(core, id)
        expect((await core.call('GET', `/accounts?app_id=${id}&size=1`)).body.total).toBe(250)
      }
      await untilNoJobIsDue(core)
    })

    test('completes earlier requests', async () => {
      const { rows } = await core.db.execute<{ id: string }>(
        sql`select id from access_requests where exists (
        select from tasks where access_request_id = access_requests.id and status = 'PENDING')`,
      )
      expect(rows.length).toBeGreaterThan(0)
      for (const { id } of rows) await completeTasks(core, id)
    })
  },
)
