/** Decisions in a review: who may make them, reasons, changes, concurrency, bulk and deadlines. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { principalOfToken } from '../../../runtime/core/kernel/identity/principal.ts'
import { itemStates } from '../../../runtime/core/reviews/items.ts'
import { ADMIN_TOKEN, type Person, person } from '../host.ts'
import { company } from '../requests/company.ts'
import { sync } from '../sync/synced.ts'
import { account, association, entitlement } from '../sync/upstream.ts'
import { holds, nameOf, type Reviewed, startReviewed, statesOf } from './reviewed.ts'

let firm: Reviewed
let root: Person
let auditor: Person
let reviewAdmin: Person

beforeAll(async () => {
  firm = await startReviewed()
  root = await person(firm.core.db, 'root@example.com', ['Admin'])
  auditor = await person(firm.core.db, 'auditor@example.com', ['Auditor'])
  reviewAdmin = await person(firm.core.db, 'rita@example.com', ['Access Review Administrator'])
})
afterAll(() => firm.stop())
beforeEach(() => firm.reset())

const launched = async () => (await firm.launched(await firm.synced())).id
const states = async (id: string) => statesOf(await firm.lines(id))
const totalOf = async (id: string, filter: string): Promise<number> =>
  (await firm.core.call('GET', `/access_reviews/${id}/items?${filter}`)).body.total
const openTasks = async (who: Person) =>
  (
    await firm.core.call('GET', '/tasks?task_type=ACCESS_REVIEW&status=PENDING', {
      token: who.token,
    })
  ).body.items.length

test('a reviewer decides lines by id, and the task closes after the last line', async () => {
  const before = await openTasks(firm.mia)
  const id = await launched()
  expect(await openTasks(firm.mia)).toBe(before + 1)
  const [g1, g2, ben] = await firm.lines(id, '', firm.mia)
  const kept = await firm.decide(id, firm.mia, { decision: 'KEEP', item_ids: [g1?.id, ben?.id] })
  expect(kept.body).toMatchObject({ decided: 2, results: [{ state: 'KEPT' }, { state: 'KEPT' }] })
  expect(await openTasks(firm.mia)).toBe(before + 1)
  const gone = { decision: 'REJECT', item_ids: [g2?.id], reason: 'she left that team' }
  expect((await firm.decide(id, firm.mia, gone)).body.decided).toBe(1)
  expect(await openTasks(firm.mia)).toBe(before)
  expect(await firm.line(id, 'ada Group g2')).toMatchObject({
    ...{ state: 'REJECTED', reason: 'she left that team', decided_by_id: firm.mia.id },
  })
})

test('people cannot decide lines that they do not review, not even their own or as an admin', async () => {
  const id = await launched()
  const own = await firm.line(id, 'mia Group g1')
  const theirs = await firm.line(id, 'ada Group g1')
  const keep = (who: Person, line: { id: string }) =>
    firm.decide(id, who, { decision: 'KEEP', item_ids: [line.id] })
  expect((await keep(firm.mia, own)).body).toMatchObject({
    ...{ decided: 0, act_id: null, results: [{ state: null }] },
  })
  for (const who of [firm.ada, reviewAdmin, auditor])
    expect((await keep(who, theirs)).status).toBe(403)
  expect(new Set(Object.values(await states(id)))).toEqual(new Set(['OPEN']))
})

test('roles limit who can read and who can change a review', async () => {
  const id = await launched()
  const as = async (who: Person, method: string, path: string, body?: object) =>
    (await firm.core.call(method, path, { token: who.token, ...(body ? { body } : {}) })).status
  const one = `/access_reviews/${id}`
  for (const path of [one, `${one}/progress`, `${one}/settings`, '/access_reviews'])
    for (const [who, status] of [
      [auditor, 200],
      [reviewAdmin, 200],
      [firm.ada, 403],
    ] as const)
      expect(await as(who, 'GET', path), path).toBe(status)
  const body = { name: 'Another name' }
  expect(await as(auditor, 'PATCH', one, body)).toBe(403)
  expect(await as(firm.mia, 'PATCH', one, body)).toBe(403)
  expect(await as(reviewAdmin, 'PATCH', one, body)).toBe(200)
  expect((await firm.lines(id, '', auditor)).length).toBe(5)
})

test('a reason is needed to reject, to modify, and to keep a red line', async () => {
  const id = await launched()
  const [line] = await firm.lines(id, '', firm.mia)
  const bot = await firm.line(id, 'bot Group g2')
  for (const decision of ['REJECT', 'MODIFY'])
    expect((await firm.decide(id, firm.mia, { decision, item_ids: [line?.id] })).status).toBe(400)
  expect(bot.hints).toContainEqual({ name: 'ACCOUNT_UNMATCHED', red: true })
  const keep = { decision: 'KEEP', item_ids: [bot.id] }
  const asAdmin = (body: object) => firm.post(`/access_reviews/${id}/items/decide`, body)
  expect((await asAdmin(keep)).body.detail).toMatch(/reason.*ACCOUNT_UNMATCHED/)
  expect((await asAdmin({ ...keep, reason: 'it runs the backups' })).body.decided).toBe(1)
  expect((await asAdmin({ decision: 'KEEP' })).status).toBe(400)
  expect((await asAdmin({ ...keep, filter: {} })).status).toBe(400)
})

test('a decided line keeps its state unless the reviewer sends change: true', async () => {
  const id = await launched()
  const [line] = await firm.lines(id, '', firm.mia)
  const item_ids = [line?.id]
  await firm.decide(id, firm.mia, { decision: 'KEEP', item_ids })
  const no = { decision: 'REJECT', item_ids, reason: 'no' }
  expect((await firm.decide(id, firm.mia, no)).body).toMatchObject({
    decided: 0,
    results: [{ state: 'KEPT', error: expect.stringMatching(/already KEPT; send change: true/) }],
  })
  const changed = await firm.decide(id, firm.mia, { ...no, change: true })
  expect(changed.body).toMatchObject({ decided: 1, results: [{ state: 'REJECTED', error: null }] })
  const { rows } = await firm.core.db.execute(sql`
    select a.decision from access_review_decisions d join access_review_acts a on a.id = d.act_id
    where d.item_id = ${line?.id} order by a.created_at`)
  expect(rows.map(({ decision }) => decision)).toEqual(['KEEP', 'REJECT'])
})

test('of two concurrent reviewers one decides each line, and the other gets an error', async () => {
  const settings = { reviewers: 'NAMED', user_ids: [firm.mia.id, root.id] }
  const { id } = await firm.launched(await firm.synced(), {}, settings)
  const all = (await firm.lines(id)).filter((one) => one.user_id === firm.ada.id)
  const item_ids = all.map((one) => one.id)
  const both = await Promise.all([
    firm.decide(id, firm.mia, { decision: 'KEEP', item_ids }),
    firm.decide(id, root, { decision: 'REJECT', item_ids, reason: 'no' }),
  ])
  const decided = both.map(({ body }) => body.decided)
  expect(decided[0] + decided[1]).toBe(item_ids.length)
  const results = both.flatMap(({ body }) => body.results)
  expect(results.filter((one) => one.error !== null)).toHaveLength(item_ids.length)
})

test('one act decides all lines that match a filter, and counts as bulk', async () => {
  firm.upstream.holds.accounts = Array.from({ length: 60 }, (_, n) => account(`s${n}`))
  firm.upstream.holds.associations = Array.from({ length: 60 }, (_, n) =>
    association(`s${n}`, n % 3 === 0 ? 'g1' : 'g2'),
  )
  const id = await launched()
  const asAdmin = (body: object) => firm.post(`/access_reviews/${id}/items/decide`, body)
  const filter = { entitlement_id: 'g2' }
  const silent = await asAdmin({ decision: 'KEEP', filter })
  expect(silent.status).toBe(400)
  expect(silent.body.detail).toMatch(/40 lines; more than 20/)
  const reason = 'everybody has it'
  expect((await asAdmin({ decision: 'KEEP', filter, reason })).body).toMatchObject({
    ...{ decided: 40, results: [] },
  })
  expect((await asAdmin({ decision: 'REJECT', filter: {}, reason: 'rest' })).body.decided).toBe(20)
  const { body } = await firm.core.call('GET', `/access_reviews/${id}/progress`)
  expect(body).toMatchObject({ states: { KEPT: 40, REJECTED: 20 } })
  expect(body.bulk_share).toBeCloseTo(40 / 60)
  // The counts that the console shows, computed without reading the lines.
  const { db, host } = firm.core
  const principal = await principalOfToken(db, host.hasher, ADMIN_TOKEN)
  expect(principal && (await itemStates(db, principal, id))).toEqual(body.states)
})

test('lines can be found by text, entitlement, person, hint, state and app', async () => {
  const id = await launched()
  const found = async (query: string) => (await firm.lines(id, query)).map(nameOf)
  expect(await found('&search=BEN')).toEqual(['ben Group g1'])
  expect(await found('&entitlement_id=g2')).toEqual(['ada Group g2', 'bot Group g2'])
  expect(await found(`&user_id=${firm.mia.id}`)).toEqual(['mia Group g1'])
  expect(await found('&hint=ACCOUNT_UNMATCHED')).toEqual(['bot Group g2'])
  expect(await found('&state=KEPT')).toEqual([])
  expect(await found('&arda_id=x')).toEqual([])
})

test('totals equal the lines after any number of statements, and are deleted with the review', async () => {
  const id = await launched()
  const { db } = firm.core
  const counted = async () => {
    const { rows } = await db.execute<{ parts: number; n: number }>(sql`
      select count(*)::int as parts, coalesce(sum(n), 0)::int as n from access_review_counts where review_id = ${id}`)
    return rows[0]
  }
  await db.execute(
    sql`do ${sql.raw(`$$ begin for n in 1..300 loop
    update access_review_items set state = case state when 'OPEN' then 'KEPT' else 'OPEN' end
    where review_id = '${id}' and account = 'ben'; end loop; end $$`)}`,
  )
  expect((await counted())?.parts).toBeGreaterThan(500)
  const [line] = await firm.lines(id, '&search=ADA', firm.mia)
  await firm.decide(id, firm.mia, { decision: 'KEEP', item_ids: [line?.id] })
  expect(await counted()).toMatchObject({ n: 5 })
  expect((await counted())?.parts).toBeLessThan(10)
  for (const filter of [
    '',
    'state=OPEN',
    'state=KEPT',
    'state=KEPT&state=REJECTED',
    'search=ada',
    'hint=ACCOUNT_UNMATCHED',
    'hint=ACCOUNT_UNMATCHED&state=KEPT',
    'search=GROUP+G1',
    'search=b',
    'search=nobody',
  ])
    expect(await totalOf(id, filter), filter).toBe((await firm.lines(id, `&${filter}`)).length)
  expect(await totalOf(id, 'state=KEPT')).toBe(1)
  await db.execute(sql`delete from access_reviews where id = ${id}`)
  expect(await counted()).toEqual({ parts: 0, n: 0 })
})

test('a line can be reassigned with a reason, but never to its subject', async () => {
  const id = await launched()
  const line = await firm.line(id, 'ada Group g1')
  const to = (who: Person, body: object, by = firm.mia) =>
    firm.post(
      `/access_reviews/${id}/items/${line.id}/reassign`,
      { user_ids: [who.id], ...body },
      by,
    )
  const reason = 'he knows the team'
  expect((await to(firm.ada, { reason })).status).toBe(400)
  expect((await to(firm.ben, {})).status).toBe(422)
  expect((await to(firm.ben, { reason }, firm.ada)).status).toBe(404)
  expect((await to(firm.ben, { reason }, auditor)).status).toBe(403)
  const before = await openTasks(firm.ben)
  expect((await to(firm.ben, { reason })).body).toMatchObject({ reviewer_user_ids: [firm.ben.id] })
  expect(await openTasks(firm.ben)).toBe(before + 1)
  expect(
    (await firm.decide(id, firm.mia, { decision: 'KEEP', item_ids: [line.id] })).body.decided,
  ).toBe(0)
  expect(
    (await firm.decide(id, firm.ben, { decision: 'KEEP', item_ids: [line.id] })).body.decided,
  ).toBe(1)
  expect((await to(firm.mia, { reason }, reviewAdmin)).status).toBe(409)
})

test('a line is not reassigned to a person who approved its access while another reviewer is left', async () => {
  const { core, upstream, ben, mia } = firm
  const appId = await firm.synced()
  const store = company(core)
  await store.inStore(appId)
  const permission = await store.group(appId, 'g3', 'Auditors')
  const request = await store.asked(ben, {
    ...{ app_id: appId, requestable_permission_ids: [permission], note: 'for the audit' },
  })
  await store.settle(request, 'complete')
  // The connector cannot grant it, so a person does.
  await store.reaches(request, 'PENDING_MANUAL_PROVISIONING')
  await store.settle(request, 'complete')
  await store.reaches(request, 'COMPLETED')
  upstream.holds.entitlements.push(entitlement('g3'))
  upstream.holds.associations.push(association('ben', 'g3'))
  await sync(core, appId)
  const { id } = await firm.launched(appId)
  const line = await firm.line(id, 'ben Group g3')
  expect(line.reviewer_user_ids).toEqual([mia.id])
  const { body: approver } = await core.call('GET', '/users/current')
  const to = (who: string[], by?: Person) =>
    firm.post(
      `/access_reviews/${id}/items/${line.id}/reassign`,
      { user_ids: who, reason: 'knows the access' },
      by,
    )
  for (const by of [mia, undefined]) {
    const refused = await to([approver.id, root.id], by)
    expect(refused.status).toBe(400)
    expect(refused.body.detail).toMatch(/approved or carried out the request/)
  }
  expect((await firm.line(id, 'ben Group g3')).reviewer_user_ids).toEqual([mia.id])
  expect((await to([root.id], mia)).body).toMatchObject({ reviewer_user_ids: [root.id] })
  // No one else is left: no manager, and no other admin.
  await core.db.execute(
    sql`update users set status = 'INACTIVE' where id in (${mia.id}, ${root.id})`,
  )
  try {
    expect((await to([approver.id])).body).toMatchObject({ reviewer_user_ids: [approver.id] })
  } finally {
    await core.db.execute(
      sql`update users set status = 'ACTIVE' where id in (${mia.id}, ${root.id})`,
    )
  }
})

test('an undecided line that a later sync finds gone becomes VANISHED', async () => {
  const appId = await firm.synced()
  const { id } = await firm.launched(appId)
  await firm.decided(id, 'ada Group g1', 'KEEP', firm.mia)
  firm.upstream.holds.associations = [
    ...[association('ada', 'g2'), association('mia', 'g1'), association('bot', 'g2')],
  ]
  const run = await sync(firm.core, appId)
  const gone = await firm.lineReaches(id, 'ben Group g1', 'VANISHED')
  expect(gone).toMatchObject({ gone_run: run.id })
  const late = { decision: 'REJECT', reason: 'too late', item_ids: [gone.id] }
  expect((await firm.decide(id, firm.mia, late)).body).toMatchObject({
    ...{ decided: 0, results: [{ state: 'VANISHED', error: 'it is already VANISHED' }] },
  })
  expect(await states(id)).toMatchObject({ 'ada Group g1': 'KEPT', 'ada Group g2': 'OPEN' })
})

test('an account that changed after the launch is shown as it was, and can still be rejected', async () => {
  const appId = await firm.synced()
  const { id } = await firm.launched(appId)
  const before = await firm.line(id, 'ben Group g1')
  firm.upstream.holds.accounts = ['ada', 'ben', 'mia', 'bot'].map((one) =>
    account(one, one === 'ben' ? { email: 'other@example.com', user_status: 'SUSPENDED' } : {}),
  )
  firm.upstream.holds.entitlements = [
    entitlement('g1', { label: 'Another name' }),
    entitlement('g2'),
  ]
  expect((await sync(firm.core, appId)).state).toBe('SUCCEEDED')
  expect(await firm.line(id, 'ben Group g1')).toEqual(before)
  await firm.decided(id, 'ben Group g1', 'REJECT', firm.mia)
  expect((await firm.post(`/access_reviews/${id}/complete`, {})).status).toBe(200)
  await firm.lineReaches(id, 'ben Group g1', 'REMOVED')
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(false)
})

test('a completed review has no open lines and accepts no further decisions', async () => {
  const id = await launched()
  await firm.decided(id, 'ada Group g1', 'KEEP', firm.mia)
  expect((await firm.post(`/access_reviews/${id}/complete`, {})).status).toBe(200)
  await firm.reaches(id, 'COMPLETED')
  expect(await states(id)).toMatchObject({ 'ada Group g1': 'KEPT', 'ada Group g2': 'NOT_DECIDED' })
  const late = await firm.decide(id, firm.mia, { decision: 'KEEP', filter: {} })
  expect(late.status).toBe(409)
  expect((await firm.post(`/access_reviews/${id}/complete`, {})).status).toBe(409)
  const more = await firm.post(`/access_reviews/${id}/apps`, { apps: [] })
  expect(more.status).toBe(400)
})

test('a reviewer cannot complete the task while lines are open', async () => {
  const id = await launched()
  const { body } = await firm.core.call('GET', `/access_reviews/${id}/progress`)
  const { task_id } = body.apps[0].reviewers.find(
    (one: { user_ids: string[] }) => one.user_ids[0] === firm.mia.id,
  )
  const complete = () =>
    firm.core.call('POST', `/tasks/${task_id}/complete`, { token: firm.mia.token })
  expect((await complete()).body.detail).toMatch(/3 lines are open/)
})

test.each([
  ['LEAVE', { 'ada Group g1': 'KEPT', 'ada Group g2': 'NOT_DECIDED' }, 'COMPLETED'],
  ['ESCALATE', { 'ada Group g1': 'KEPT', 'ada Group g2': 'OPEN' }, 'IN_PROGRESS'],
])('a deadline with %s handles the undecided lines', async (on_deadline, wanted, status) => {
  const before = await openTasks(firm.mia)
  const { id } = await firm.launched(await firm.synced(), {}, { on_deadline })
  await firm.decided(id, 'ada Group g1', 'KEEP', firm.mia)
  await firm.core.db.execute(
    sql`update access_reviews set deadline_at = now(), wake_at = now() where id = ${id}`,
  )
  await firm.reaches(id, status)
  if (on_deadline === 'ESCALATE') {
    const { body } = await firm.core.call('GET', '/users/current')
    await firm.lineReaches(id, 'ada Group g2', 'OPEN')
    await expect
      .poll(async () => (await firm.line(id, 'ada Group g2')).reviewer_user_ids, {
        timeout: 20_000,
      })
      .toContain(body.id)
    // The manager has nothing left to decide.
    await expect.poll(() => openTasks(firm.mia), { timeout: 20_000 }).toBe(before)
  }
  expect(await states(id)).toMatchObject(wanted)
})

test('a line that is reassigned after the deadline with ESCALATE stays with its new reviewer', async () => {
  const { db } = firm.core
  const { id } = await firm.launched(await firm.synced(), {}, { on_deadline: 'ESCALATE' })
  const askedOf = async (which: string) => (await firm.line(id, which)).reviewer_user_ids
  const lookAgain = () =>
    db.execute(sql`update access_reviews set wake_at = now() where id = ${id}`)
  await db.execute(
    sql`update access_reviews set deadline_at = now(), wake_at = now() where id = ${id}`,
  )
  await expect.poll(() => askedOf('ada Group g1'), { timeout: 20_000 }).toContain(root.id)
  const line = await firm.line(id, 'ada Group g1')
  const reason = 'he knows the team'
  const moved = await firm.post(
    `/access_reviews/${id}/items/${line.id}/reassign`,
    { user_ids: [firm.ben.id], reason },
    root,
  )
  expect(moved.status).toBe(200)
  const wakes = async () =>
    (
      await db.execute<{ later: boolean }>(
        sql`select wake_at > now() as later from access_reviews where id = ${id}`,
      )
    ).rows[0]?.later
  await lookAgain()
  await expect.poll(wakes, { timeout: 20_000 }).toBe(true)
  expect(await askedOf('ada Group g1')).toEqual([firm.ben.id])
  expect(await askedOf('ada Group g2')).toContain(root.id)
})

test('a deleted review is gone, and so are its open tasks', async () => {
  const before = await openTasks(firm.mia)
  const id = await launched()
  expect((await firm.core.call('DELETE', `/access_reviews/${id}`)).status).toBe(204)
  expect(await openTasks(firm.mia)).toBe(before)
  expect((await firm.core.call('GET', `/access_reviews/${id}`)).status).toBe(404)
  expect((await firm.core.call('DELETE', `/access_reviews/${id}`)).status).toBe(404)
})
