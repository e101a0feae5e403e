/** The launch of apps in a review: the sync it starts from, its lines, and its reviewers. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SCOPE_GROUPS } from '../../../runtime/contract/models/review-scope.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { person } from '../host.ts'
import { latestRun, sync, trigger } from '../sync/synced.ts'
import { account, association, entitlement, hang } from '../sync/upstream.ts'
import { nameOf, type Reviewed, startReviewed } from './reviewed.ts'

let firm: Reviewed

beforeAll(async () => {
  firm = await startReviewed()
})
afterAll(() => firm.stop())
beforeEach(() => firm.reset())

const CLERK = { Title: { type: 'STRING' as const, value: 'Clerk' } }
const progress = async (id: string) =>
  (await firm.core.call('GET', `/access_reviews/${id}/progress`)).body
const namesOf = async (id: string) => (await firm.lines(id)).map(nameOf)

test('the lines are those of the last complete sync, and the population counts them', async () => {
  const appId = await firm.synced()
  const { id } = await firm.launched(appId)
  expect(await namesOf(id)).toEqual([
    'ada Group g1',
    'ada Group g2',
    'ben Group g1',
    'bot Group g2',
    'mia Group g1',
  ])
  const run = await latestRun(firm.core, appId)
  const [app] = (await progress(id)).apps
  expect(app.population).toMatchObject({
    ...{ run: run.id, connector: 'synced', connector_version: '1.0.0' },
    ...{ synced: 5, items: 5, excluded: {}, left_out: 0 },
  })
  expect(app.population.connector_digest).toMatch(/[0-9a-f]{32}/)
  expect((await firm.read(id)).apps).toMatchObject([
    { domain_app_id: appId, account_count: 4, review_type: 'ENTITLEMENTS' },
  ])
})

test('accounts can be reviewed instead of entitlements', async () => {
  const { id } = await firm.launched(await firm.synced(), { review_type: 'ACCOUNTS' })
  expect(await namesOf(id)).toEqual(['ada', 'ben', 'bot', 'mia'])
})

test('lines outside a scope are counted under the filter that excluded them', async () => {
  const filter = (group: string, value: string) => ({ group, name: value, label: value, value })
  const scope_filters = [
    filter('ACCOUNT_ENTITLEMENT', 'g1'),
    filter('USER_OR_GROUP', firm.ada.id),
    filter('USER_OR_GROUP', firm.ben.id),
  ]
  const { id } = await firm.launched(await firm.synced(), { scope_filters })
  expect(await namesOf(id)).toEqual(['ada Group g1', 'ben Group g1'])
  expect((await progress(id)).apps[0].population).toMatchObject({
    ...{ synced: 5, items: 2, left_out: 0 },
    excluded: { ACCOUNT_ENTITLEMENT: 2, USER_OR_GROUP: 1 },
  })
})

test('every filter that is offered can be used', async () => {
  const appId = await firm.synced()
  const { body } = await firm.core.call(
    'GET',
    `/access_reviews/scope_options?domain_app_id=${appId}`,
  )
  const groups = body.scope_options.map(({ group }: { group: string }) => group)
  expect(groups).toEqual(Object.keys(SCOPE_GROUPS))
  for (const { group, type, items } of body.scope_options) {
    const [first = { group, name: 'department', label: 'x', value: firm.ada.id }] = items
    const { type: _, ...filter } = first
    const sent = type === 'DATETIME' ? { group, after: '2026-01-01' } : filter
    const reply = await firm.post(`/access_reviews/${await firm.made()}/apps`, {
      apps: [{ id: appId, scope_filters: [sent] }],
    })
    expect(reply.body, group).toMatchObject({ errors: [], added_apps: [{ domain_app_id: appId }] })
  }
})

test('unknown filters and invalid filter values are refused', async () => {
  const appId = await firm.synced()
  const added = async (group: string, value: string) =>
    firm.post(`/access_reviews/${await firm.made()}/apps`, {
      apps: [{ id: appId, scope_filters: [{ group, name: value, label: value, value }] }],
    })
  const unknown = await added('WEATHER', 'rain')
  expect(unknown.status).toBe(422)
  expect(JSON.stringify(unknown.body)).toMatch(/scope_filters.*group.*expected one of .*TEAM/)
  const odd = await added('ACCESS_GRANTED_AT', 'yesterday')
  expect(odd.body).toMatchObject({
    added_apps: [],
    errors: [
      { app_id: appId, error: expect.stringMatching(/yesterday.*ACCESS_GRANTED_AT must be/) },
    ],
  })
})

test('a scope can be previewed without a review', async () => {
  const id = await firm.synced()
  const filter = (group: string, value: string) => ({ group, name: value, label: value, value })
  const preview = (body: object) => firm.post('/access_reviews/scope_preview', body)
  const scope_filters = [filter('ACCOUNT_ENTITLEMENT', 'g1'), filter('TEAM', 'none')]
  expect((await preview({ id, scope_filters: scope_filters.slice(0, 1) })).body).toEqual({
    ...{ synced: 5, items: 3, accounts: 3, left_out: 0, excluded: { ACCOUNT_ENTITLEMENT: 2 } },
    examples: ['ada', 'ben', 'mia'].map((unique_identifier) => ({
      ...{ unique_identifier, label: 'Group g1' },
    })),
  })
  expect((await preview({ id, scope_filters })).body).toMatchObject({
    ...{ items: 0, excluded: { ACCOUNT_ENTITLEMENT: 2, TEAM: 3 }, examples: [] },
  })
  const odd = { id, scope_filters: [filter('CATEGORIES', 'BOT')] }
  expect((await preview(odd)).body.detail).toMatch(/must be one of USER, ROLE, SERVICE/)
  expect((await preview({ id: firm.ada.id })).status).toBe(404)
})

test('AS_LAST_TIME asks the reviewers of the last review, including those by reassignment', async () => {
  const appId = await firm.synced()
  const first = await firm.launched(appId, {}, { reviewers: 'MANAGERS' })
  const { id: item } = await firm.line(first.id, 'ben Group g1')
  const dora = await person(firm.core.db, 'dora@example.com')
  const moved = await firm.post(`/access_reviews/${first.id}/items/${item}/reassign`, {
    ...{ user_ids: [dora.id], reason: 'she knows him' },
  })
  expect(moved.status, JSON.stringify(moved.body)).toBe(200)
  const again = { reviewers: 'AS_LAST_TIME' }
  const { id } = await firm.launched(appId, {}, again)
  const of = async (which: string) => (await firm.line(id, which)).reviewer_user_ids
  expect([await of('ben Group g1'), await of('ada Group g1')]).toEqual([[dora.id], [firm.mia.id]])
  const kept = await firm.core.call('GET', `/access_reviews/${id}/settings`)
  expect(kept.body).toMatchObject(again)
  const second = await firm.core.call('PUT', `/access_reviews/${id}/settings`, {
    body: { second_reviewers: 'AS_LAST_TIME' },
  })
  expect(second.status).toBe(422)
  // An app without an earlier review falls back to managers.
  const other = await firm.launched(await firm.synced(), {}, again)
  expect((await firm.line(other.id, 'ada Group g1')).reviewer_user_ids).toEqual([firm.mia.id])
})

test('lines can be listed and decided by scope filters', async () => {
  const { id } = await firm.launched(await firm.synced())
  const filter = (group: string, value: string) => ({ group, name: value, label: value, value })
  const scope_filters = [filter('ACCOUNT_ENTITLEMENT', 'g1'), filter('USER_OR_GROUP', firm.ada.id)]
  const listed = (text: string) =>
    firm.core.call('GET', `/access_reviews/${id}/items?scope_filters=${encodeURIComponent(text)}`)
  const { body } = await listed(JSON.stringify(scope_filters))
  expect([body.total, body.items.map(nameOf)]).toEqual([1, ['ada Group g1']])
  for (const [text, words] of [
    ['[', /Expected a list of objects as JSON/],
    ['[{"group":"WEATHER"}]', /TEAM/],
    [JSON.stringify([{ ...filter('TEAM', 'x'), label: 'y'.repeat(9000) }]), /longer than 8192/],
  ] as const)
    expect(JSON.stringify(await listed(text)), text.slice(0, 20)).toMatch(words)
  const odd = await listed(JSON.stringify([filter('CATEGORIES', 'BOT')]))
  expect([odd.status, odd.body.detail]).toEqual([400, expect.stringMatching(/must be one of USER/)])
  const keep = { decision: 'KEEP', filter: { scope_filters } }
  expect((await firm.decide(id, firm.mia, keep)).body.decided).toBe(1)
  expect((await firm.lines(id, '&state=KEPT')).map(nameOf)).toEqual(['ada Group g1'])
})

test('managers review, people never review their own access, and each reviewer has one task', async () => {
  const { id } = await firm.launched(await firm.synced())
  const [admin] = (await firm.core.call('GET', '/users/current')).body.id.split(' ')
  const reviewers = Object.fromEntries(
    (await firm.lines(id)).map((one) => [nameOf(one), one.reviewer_user_ids]),
  )
  expect(reviewers).toEqual({
    'ada Group g1': [firm.mia.id],
    'ada Group g2': [firm.mia.id],
    'ben Group g1': [firm.mia.id],
    'bot Group g2': [admin],
    'mia Group g1': [admin],
  })
  const { body } = await firm.core.call('GET', '/tasks?task_type=ACCESS_REVIEW', {
    token: firm.mia.token,
  })
  expect(body.items[0]).toMatchObject({
    ...{ product_area: 'ACCESS_REVIEWS', status: 'PENDING' },
    description: expect.stringMatching(/^Review 3 lines of /),
  })
  expect((await firm.lines(id, '', firm.mia)).map(nameOf)).toEqual([
    ...['ada Group g1', 'ada Group g2', 'ben Group g1'],
  ])
  expect(await firm.lines(id, '', firm.ada)).toEqual([])
})

test('named reviewers who are the subject or who have left are skipped', async () => {
  const gone = await person(firm.core.db, 'gone@example.com')
  await firm.core.db.execute(sql`update users set status = 'INACTIVE' where id = ${gone.id}`)
  const settings = { reviewers: 'NAMED', user_ids: [firm.ada.id, firm.ben.id, gone.id] }
  const { id } = await firm.launched(await firm.synced(), {}, settings)
  const of = async (which: string) => (await firm.line(id, which)).reviewer_user_ids.sort()
  expect(await of('ada Group g1')).toEqual([firm.ben.id])
  expect(await of('mia Group g1')).toEqual([firm.ada.id, firm.ben.id].sort())
})

test('open lines and the task of a reviewer who leaves pass to the next manager within the hour', async () => {
  const { db } = firm.core
  const zoe = await person(db, 'zoe@example.com')
  await db.execute(sql`update users set manager_id = ${zoe.id} where id = ${firm.mia.id}`)
  try {
    const { id } = await firm.launched(await firm.synced())
    await firm.decided(id, 'ada Group g2', 'KEEP', firm.mia)
    const wake = () => db.execute(sql`update access_reviews set wake_at = now() where id = ${id}`)
    const of = async (which: string) => (await firm.line(id, which)).reviewer_user_ids
    expect(await of('ada Group g1')).toEqual([firm.mia.id])
    await db.execute(sql`update users set status = 'INACTIVE' where id = ${firm.mia.id}`)
    const reviewersAfterCheck = async () => {
      // Repeated, because a check that began before the change schedules the next one an hour later.
      await wake()
      return of('ada Group g1')
    }
    await expect.poll(reviewersAfterCheck, { timeout: 30_000 }).toEqual([zoe.id])
    expect(await of('ben Group g1')).toEqual([zoe.id])
    // A decided line stays with its reviewer.
    expect(await of('ada Group g2')).toEqual([firm.mia.id])
    const { rows } = await db.execute<{ who: string; status: string }>(sql`
      select distinct s.user_ids[1] as who, t.status from tasks t
      join access_review_assignments s on s.task_id = t.id join access_review_apps a on a.id = s.arda_id
      where a.review_id = ${id} and s.user_ids[1] in (${firm.mia.id}, ${zoe.id})`)
    const status = (who: string) => rows.filter((row) => row.who === who).map((row) => row.status)
    expect([status(firm.mia.id), status(zoe.id)]).toEqual([['COMPLETED'], ['PENDING']])
    expect(
      (await firm.decide(id, zoe, { decision: 'KEEP', filter: {} })).body.decided,
    ).toBeGreaterThan(1)
    const next = await db.execute<{ soon: boolean }>(
      sql`select wake_at <= now() + interval '61 minutes' as soon from access_reviews where id = ${id}`,
    )
    expect(next.rows[0]?.soon).toBe(true)
  } finally {
    await db.execute(
      sql`update users set status = 'ACTIVE', manager_id = null where id = ${firm.mia.id}`,
    )
  }
})

test('hints name accounts without a person and access that nobody requested', async () => {
  firm.upstream.holds.accounts = [account('ada'), account('bot')]
  firm.upstream.holds.associations = [association('ada', 'g1'), association('bot', 'g1')]
  const { id } = await firm.launched(await firm.synced())
  const hints = async (which: string) => (await firm.line(id, which)).hints.map(({ name }) => name)
  expect(await hints('ada Group g1')).toEqual(['NOBODY_ASKED'])
  expect(await hints('bot Group g1')).toEqual(['ACCOUNT_UNMATCHED', 'NOBODY_ASKED'])
})

test('hints name broken separation rules, privileged access, and access that few peers have', async () => {
  const { db } = firm.core
  const team = ['p1', 'p2', 'p3', 'p4', 'q1', 'q2']
  for (const name of team) {
    const { id } = await person(db, `${name}@example.com`)
    await db
      .update(users)
      .set(name.startsWith('p') ? { managerId: firm.ben.id } : { customAttributes: CLERK })
      .where(eq(users.id, id))
  }
  firm.upstream.holds.accounts = ['ada', ...team].map((id) => account(id))
  firm.upstream.holds.entitlements = [entitlement('g1'), { ...entitlement('g2'), label: 'Admins' }]
  firm.upstream.holds.associations = [
    ...['ada', 'p1', 'q1', 'q2'].map((id) => association(id, 'g1')),
    association('p2', 'g2'),
  ]
  const here = await firm.synced()
  firm.upstream.holds.accounts = ['p1', 'q1'].map((id) => account(id))
  firm.upstream.holds.associations = []
  const there = await firm.synced()
  const rule = { name: 'Apart', left: { apps: [here] }, right: { apps: [there] } }
  const made = await firm.post('/separation_of_duties', rule)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const { id } = await firm.launched(here)
  const of = async (which: string) => {
    const { hints, peers } = await firm.line(id, which)
    return [hints.map(({ name }) => name).filter((one) => one !== 'NOBODY_ASKED'), peers]
  }
  expect(await of('p1 Group g1')).toEqual([['SEPARATION_BROKEN', 'FEW_PEERS'], { held: 0, of: 3 }])
  expect(await of('p2 Admins')).toEqual([['PRIVILEGED', 'FEW_PEERS'], { held: 0, of: 3 }])
  expect(await of('q1 Group g1')).toEqual([['SEPARATION_BROKEN'], { held: 1, of: 1 }])
  await firm.core.call('DELETE', `/separation_of_duties/${made.body.id}`)
})

test('a launch waits for a running sync and uses its result', async () => {
  const appId = await firm.synced()
  let release = () => {}
  const held = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined)
  })
  firm.upstream.before = (kind) => (kind === 'associations' ? held : undefined)
  firm.upstream.holds.associations = [association('ben', 'g2')]
  await trigger(firm.core, appId)
  const id = await firm.made()
  const reply = await firm.post(`/access_reviews/${id}/apps`, { apps: [{ id: appId }] })
  expect(reply.body.added_apps).toMatchObject([{ status: 'IN_PREPARATION' }])
  expect(reply.body.errors).toMatchObject([
    { app_id: appId, error: expect.stringMatching(/a sync is running/) },
  ])
  // Enough entries stay: if most of them vanished, an operator would have to confirm it first.
  firm.upstream.holds.associations = [association('ben', 'g1'), association('ada', 'g2')]
  release()
  await firm.appReaches(id, 'IN_PROGRESS')
  const run = await latestRun(firm.core, appId)
  expect((await progress(id)).apps[0].population.run).toBe(run.id)
})

test('a launch after a failed sync starts a new sync and reports it', async () => {
  const appId = await firm.synced()
  firm.upstream.before = (kind) =>
    kind === 'entitlements' ? { status: 401, code: 'unauthenticated' } : undefined
  expect((await sync(firm.core, appId)).state).toBe('FAILED')
  firm.upstream.before = () => undefined
  const failed = await latestRun(firm.core, appId)
  const id = await firm.made()
  const reply = await firm.post(`/access_reviews/${id}/apps`, { apps: [{ id: appId }] })
  expect(reply.body.errors).toMatchObject([
    { app_id: appId, error: expect.stringMatching(/FAILED.*a new sync was started/) },
  ])
  await firm.core.db.execute(
    sql`update app_outages set until = clock_timestamp() where app_id = ${appId}`,
  )
  await firm.appReaches(id, 'IN_PROGRESS')
  expect((await progress(id)).apps[0].population.run).toBeGreaterThan(failed.id)
})

test('a launch after an outdated sync starts a new sync', async () => {
  const appId = await firm.synced()
  await firm.core.db.execute(
    sql`update sync_runs set ended_at = now() - interval '8 days' where app_id = ${appId}`,
  )
  const old = await latestRun(firm.core, appId)
  const id = await firm.made()
  const reply = await firm.post(`/access_reviews/${id}/apps`, { apps: [{ id: appId }] })
  expect(reply.body.errors[0].error).toMatch(/older than 7 days/)
  await firm.appReaches(id, 'IN_PROGRESS')
  expect((await progress(id)).apps[0].population.run).toBeGreaterThan(old.id)
})

test('a scope without any lines is not launched, and its owner gets a task', async () => {
  const appId = await firm.synced()
  const id = await firm.made()
  const filter = { group: 'ACCOUNT_ENTITLEMENT', name: 'none', label: 'none', value: 'none' }
  await firm.post(`/access_reviews/${id}/apps`, {
    apps: [{ id: appId, scope_filters: [filter] }],
  })
  const app = await until('the app reports a problem', async () => {
    const [one] = (await progress(id)).apps
    return one.problem === null ? null : one
  })
  expect(app).toMatchObject({
    status: 'IN_PREPARATION',
    problem: expect.stringMatching(/the scope matches nothing in the app/),
  })
  const { body } = await firm.core.call('GET', '/tasks?task_type=ACCESS_REVIEW_NOT_LAUNCHED')
  const tasks = body.items.filter((one: { app: { id: string } }) => one.app.id === appId)
  expect(tasks).toHaveLength(1)
  const path = `/access_reviews/${id}`
  const apps = [{ id: app.arda_id, scope_filters: null }]
  expect((await firm.core.call('PATCH', path, { body: { apps } })).status).toBe(200)
  await firm.appReaches(id, 'IN_PROGRESS')
})

test('an app can be in a review only once, and unknown apps are reported', async () => {
  const appId = await firm.synced()
  const { id } = await firm.launched(appId)
  const nobody = '00000000-0000-4000-8000-000000000000'
  const reply = await firm.post(`/access_reviews/${id}/apps`, {
    apps: [{ id: appId }, { id: nobody }, { id: 'x' }],
  })
  expect(reply.status).toBe(201)
  expect(reply.body.added_apps).toEqual([])
  expect(reply.body.errors.map((one: { app_id: string }) => one.app_id)).toEqual([
    ...[appId, nobody, 'x'],
  ])
})

test('a review waits for its launch date', async () => {
  const appId = await firm.synced()
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const id = await firm.made({ target_launch_date: at, apps: [{ id: appId }] })
  expect(await firm.read(id)).toMatchObject({
    status: 'SCHEDULED',
    apps: [{ status: 'IN_PREPARATION' }],
  })
  await firm.core.db.execute(
    sql`update access_reviews set target_launch_date = now(), wake_at = now() where id = ${id}`,
  )
  await firm.reaches(id, 'IN_PROGRESS')
  expect(await firm.lines(id)).toHaveLength(5)
})

test('an invalid review is refused with the reason', async () => {
  const far = '2999-01-01T00:00:00Z'
  const name = 'Only once'
  await firm.made({ name })
  const create = (body: object) => firm.post('/access_reviews', body)
  expect((await create({ name: 'only ONCE', deadline_at: far })).status).toBe(400)
  expect((await create({ name: 'x', deadline_at: '2020-01-01' })).status).toBe(400)
  expect((await create({ name: 'x', deadline_at: 'tomorrow' })).status).toBe(422)
  expect((await create({ name: 'x', deadline_at: far, owner_id: 'x' })).status).toBe(404)
  const long = { name: 'x', deadline_at: far, target_launch_date: '0001-01-01T00:00:00Z' }
  expect(await create(long)).toMatchObject({
    status: 400,
    body: { detail: 'target_launch_date must not be before 2000' },
  })
  expect((await create({ name: 'x', deadline_at: far, more: 1 })).body.detail).toMatchObject([
    { type: 'extra_forbidden', loc: ['body', 'more'] },
  ])
})

test('a launch succeeds while the system hangs', async () => {
  const appId = await firm.synced()
  firm.upstream.before = () => hang()
  const { id } = await firm.launched(appId)
  expect(await firm.lines(id)).toHaveLength(5)
})
