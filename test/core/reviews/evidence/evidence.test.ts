/** Evidence of real reviews: what it contains, how it is consistent during changes, and who may take it. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { redactEntries } from '../../../../runtime/core/kernel/audit/redacted.ts'
import { chainWaiting } from '../../../../runtime/core/kernel/audit/unchained-entries.ts'
import { queueEventMail } from '../../../../runtime/core/mail/queue.ts'
import { verifyEvidence } from '../../../../runtime/core/reviews/evidence/verify.ts'
import { until } from '../../../e2e/until.ts'
import { ADMIN_TOKEN, app, domainOf, person, type Reply } from '../../host.ts'
import { leaving } from '../../offboarding/leaving.ts'
import { company } from '../../requests/company.ts'
import { account, association } from '../../sync/upstream.ts'
import { nameOf, type Reviewed, startReviewed } from '../reviewed.ts'
import { hasPython, verdictOfHost, verdictsOfScript } from './verdicts.ts'

let firm: Reviewed
let key: string

beforeAll(async () => {
  firm = await startReviewed()
  const { body } = await firm.core.call('GET', '/.well-known/keyway-evidence-keys', { token: null })
  key = body.keys[0].fingerprint
})
afterAll(() => firm.stop())
beforeEach(() => firm.reset())

const downloadEvidence = (id: string, token?: string): Promise<Reply> =>
  firm.core.call('GET', `/access_reviews/${id}/evidence`, token === undefined ? {} : { token })

type Line = Record<string, unknown> & { kind: string }
const linesOf = (reply: Reply): Line[] =>
  String(reply.body)
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one))
const ofAccess = (reply: Reply) => linesOf(reply)[0]?.['access'] as { as_of: string }
const ofKind = (reply: Reply, kind: string) => linesOf(reply).filter((one) => one.kind === kind)

/** The summary of a valid file, which both verifiers accept. */
async function verified(reply: Reply) {
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  const file = Buffer.from(reply.body)
  if (hasPython) expect(await verdictsOfScript(key, { files: [file] })).toEqual([null])
  return verifyEvidence([file], key)
}

test('evidence of a completed review has its population, lines, decisions, removals and log entries', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await firm.launched(appId)
  const reminder = { kind: 'review_reminder', about: id } as const
  await queueEventMail(firm.core.db, await domainOf(firm.core.db), reminder, 'a reminder')
  await firm.decided(id, 'ada Group g2', 'KEEP', firm.mia)
  const again = {
    decision: 'REJECT',
    reason: 'she left',
    change: true,
    filter: { user_id: firm.ada.id },
  }
  expect((await firm.decide(id, firm.mia, again)).body.decided).toBe(2)
  await firm.decide(id, firm.mia, { decision: 'KEEP', filter: {}, reason: 'needed' })
  expect((await firm.post(`/access_reviews/${id}/complete`, {})).status).toBe(200)
  await firm.reaches(id, 'COMPLETED')
  const reply = await downloadEvidence(id)
  expect(await verified(reply)).toMatchObject({
    ...{ final: true, apps: 1, items: 5, acts: 3, not_chained: 0, log_gap: null },
    states: { REMOVED: 2, KEPT: 1, NOT_DECIDED: 2 },
    review: { id, status: 'COMPLETED' },
  })
  const { population } = (await firm.core.call('GET', `/access_reviews/${id}/progress`)).body
    .apps[0]
  expect(ofKind(reply, 'app')).toMatchObject([{ arda_id: reviewAppId, app_id: appId, population }])
  const items = ofKind(reply, 'item')
  const line = items.find((one) => nameOf(one as never) === 'ada Group g2')
  expect(line).toMatchObject({
    ...{ state: 'REMOVED', gone_at: expect.any(String), user_email: 'ada@example.com' },
    hints: [{ name: 'NOBODY_ASKED', red: false }],
    decisions: [
      { decision: 'KEEP', by_id: firm.mia.id },
      { decision: 'REJECT', by_id: firm.mia.id },
    ],
  })
  const { connector_digest } = population
  const read = { connector_digest, capability: 'find_entitlement_associations' }
  expect(line?.['readings']).toEqual(
    [true, false].map((shown) => ({
      ...{ ...read, shown, at: expect.any(String) },
      call_id: expect.stringMatching(/\.[0-9a-f]{8}$/),
    })),
  )
  expect(ofKind(reply, 'person')).toContainEqual(
    expect.objectContaining({ id: firm.mia.id, email: 'mia@example.com' }),
  )
  const notifications = ofKind(reply, 'notification')
  const [task] = notifications.filter(({ user_ids }) => String(user_ids) === firm.mia.id)
  expect(task).toMatchObject({ way: 'TASK', what: 'ACCESS_REVIEW', outcome: 'COMPLETED' })
  expect(notifications).toContainEqual({
    ...{ ...task, way: 'MAIL', what: 'review_reminder', task_id: task?.['id'] },
    ...{ outcome: null, ended_at: null, group_ids: [] },
    ...{ id: expect.any(String), at: expect.any(String) },
    ...{ n: expect.any(Number), sha256: expect.any(String) },
  })
  const types = ofKind(reply, 'log').map(({ body }) => JSON.parse(`[${body}]`)[1])
  expect(types).toEqual(
    expect.arrayContaining(
      ['APP_LAUNCHED', 'DECIDED', 'ITEM_REMOVED', 'COMPLETED', 'EVIDENCE_TAKEN'].map(
        (one) => `ACCESS_REVIEW_${one}`,
      ),
    ),
  )
  // Evidence that is taken later has the same states.
  const later = await downloadEvidence(id)
  expect(ofKind(later, 'item').map((one) => one['state'])).toEqual(items.map((one) => one['state']))
})

test('evidence of access lists what a person holds and why, for people who may read accounts', async () => {
  await firm.synced()
  const path = `/users/${firm.ada.id}/access`
  const { body } = await firm.core.call('GET', `${path}?size=100`)
  const reply = await firm.core.call('GET', `${path}/evidence`)
  expect(await verified(reply)).toMatchObject({
    ...{ about: 'access', held: body.total, page: true, final: true },
    review: { id: firm.ada.id, name: 'ada@example.com' },
  })
  const facts = (one: Record<string, unknown>) => [one['kind'], one['account_id'], one['label']]
  expect(ofKind(reply, 'held').map(facts).length).toBeGreaterThan(2)
  const known = (one: Record<string, unknown>) => [one['account_id'], one['reasons']]
  expect(ofKind(reply, 'held').map(known)).toEqual(body.items.map(known))
  expect(body.items[0].reasons).toMatchObject([{ kind: 'found' }])
  const future = await firm.core.call('GET', `${path}/evidence?as_of=2999-01-01`)
  expect(future.status).toBe(422)
  const denied = await firm.core.call('GET', `${path}/evidence`, { token: firm.mia.token })
  expect(denied.status).toBe(403)
})

test('evidence of access from a request has its log entries, with the requester and the approver', async () => {
  const appId = await firm.synced()
  const store = company(firm.core)
  await store.inStore(appId)
  const permission = await store.group(appId, 'g3', 'Auditors')
  const asked = { app_id: appId, requestable_permission_ids: [permission], note: 'for the audit' }
  const request = await store.asked(firm.ben, asked)
  await store.settle(request, 'complete')
  // The connector cannot grant it, so a person does.
  await store.reaches(request, 'PENDING_MANUAL_PROVISIONING')
  await store.settle(request, 'complete')
  await store.reaches(request, 'COMPLETED')
  const { body: root } = await firm.core.call('GET', '/users/current')
  const path = `/users/${firm.ben.id}/access/evidence`
  const reply = await firm.core.call('GET', path)
  const held = ofKind(reply, 'held').find(({ label }) => label === 'Auditors')
  expect(held?.['reasons']).toMatchObject([{ kind: 'request', request_id: request }])
  expect(await verified(reply)).toMatchObject({ about: 'access', as_of: ofAccess(reply).as_of })
  const entries = ofKind(reply, 'log').map(({ body }) => JSON.parse(`[${body}]`))
  const actors = entries.map(([, type, , actor]) => [type, actor.id])
  expect(actors).toEqual(
    expect.arrayContaining([
      ['APP_STORE_CREATE_ACCESS_REQUEST', firm.ben.id],
      ['APP_STORE_APPROVE_ACCESS_REQUEST', root.id],
    ]),
  )
  expect(entries.every(([, , , , [target]]) => target.id === request)).toBe(true)
  const people = ofKind(reply, 'person').map(({ email }) => email)
  expect(people.toSorted()).toEqual(['ben@example.com', root.email].toSorted())
  const html = ofKind(reply, 'page').map(({ content }) => content)
  const row = new RegExp(`${root.email}</td><td[^>]*>APP_STORE_APPROVE_ACCESS_REQUEST</td>`)
  expect(html.join('')).toMatch(row)
  // Evidence of an earlier moment has no log entries of the request.
  const moment = new Date(Date.parse(String(held?.['since'])) - 1).toISOString()
  const before = await firm.core.call('GET', `${path}?as_of=${moment}`)
  expect(ofKind(before, 'log')).toEqual([])
})

test('evidence of an offboarding has its accounts, also those that people close by hand, and its log', async () => {
  firm.upstream.holds.accounts = [account('zed'), account('ada')]
  const zed = await person(firm.core.db, 'zed@example.com')
  await firm.synced()
  // People close what an app without a connector has.
  const cards = await app(firm.core.db, 'Key cards')
  await leaving(firm.core).known(zed.id, 'zed-card', cards)
  const { body } = await firm.post('/lifecycle-management/user-offboardings', { user_id: zed.id })
  const path = `/lifecycle-management/user-offboardings/${body.id}/evidence`
  const reply = await until('a step has a manual task', async () => {
    const found = await firm.core.call('GET', path)
    return ofKind(found, 'step').some((one) => one['by_hand']) ? found : null
  })
  expect(await verified(reply)).toMatchObject({
    ...{ about: 'offboarding', steps: 2, page: true },
    review: { id: body.id, name: 'zed@example.com' },
  })
  const steps = ofKind(reply, 'step').map((one) => [
    one['account'],
    one['app_name'],
    one['by_hand'],
  ])
  expect(steps.toSorted()).toEqual([
    ['zed', expect.any(String), false],
    ['zed-card', 'Key cards', true],
  ])
  const types = ofKind(reply, 'log').map((one) => JSON.parse(`[${one['body']}]`)[1])
  expect(types).toEqual(
    expect.arrayContaining(['USER_OFFBOARDING_SCHEDULED', 'USER_OFFBOARDING_EVIDENCE_TAKEN']),
  )
})

test('verification finds changes in the database that bypassed the log', async () => {
  const { id } = await firm.launched(await firm.synced())
  await firm.decided(id, 'ada Group g1', 'KEEP', firm.mia)
  await firm.core.db.execute(sql`
    update access_review_items set state = 'KEPT' where review_id = ${id} and account = 'bot'`)
  const unexplained = await verdictOfHost(Buffer.from((await downloadEvidence(id)).body), key)
  expect(unexplained).toMatch(/is KEPT, which does not follow from its last decision \(none\)/)
  await firm.core.db.execute(sql`
    update access_review_items set state = 'OPEN' where review_id = ${id} and account = 'bot'`)
  await firm.core.db.execute(sql`
    update access_review_acts set decision = 'REJECT' where review_id = ${id}`)
  expect(await verdictOfHost(Buffer.from((await downloadEvidence(id)).body), key)).toMatch(
    /the acts differ from those in the log/,
  )
})

test('evidence taken while decisions are made is a consistent snapshot, marked as not final', async () => {
  const count = 1500
  firm.upstream.holds.accounts = Array.from({ length: count }, (_, n) => account(`s${n}`))
  firm.upstream.holds.associations = Array.from({ length: count }, (_, n) =>
    association(`s${n}`, 'g1'),
  )
  const { id } = await firm.launched(await firm.synced())
  const lines = (await firm.lines(id)).map((one) => one.id)
  const deciding = (async () => {
    for (let at = 0; at < lines.length; at += 10)
      await firm.post(`/access_reviews/${id}/items/decide`, {
        ...{ decision: 'REJECT', reason: 'no', item_ids: lines.slice(at, at + 10) },
      })
  })()
  const replies = await Promise.all([downloadEvidence(id), downloadEvidence(id)])
  await deciding
  for (const reply of replies)
    expect(await verified(reply)).toMatchObject({ final: false, items: count })
  const { states } = await verified(await downloadEvidence(id))
  expect(states).toEqual({ REJECTED: 100, OPEN: count - 100 })
})

test('log entries from which a name was erased are marked as redacted', async () => {
  const appId = await firm.synced()
  const name = 'Access of Ada Lovelace'
  const id = await firm.made({ name, apps: [{ id: appId }] })
  await firm.appReaches(id, 'IN_PROGRESS')
  const domainId = await domainOf(firm.core.db)
  await chainWaiting(firm.core.db, domainId)
  await redactEntries(
    firm.core.db,
    domainId,
    ['()Ada Lovelace'],
    sql`targets::text like ${`%${name}%`}`,
  )
  const reply = await downloadEvidence(id)
  const verdict = await verified(reply)
  expect(verdict.redacted).toBeGreaterThan(0)
  const odd = ofKind(reply, 'log').filter((one) => one['redacted'])
  expect(odd).toHaveLength(verdict.redacted)
  for (const { body } of odd) expect(body).toContain('Access of erased')
})

test('a host sends two files at once, and an aborted download frees its slot', async () => {
  const { id } = await firm.launched(await firm.synced())
  const headers = { host: 'localhost', authorization: `Bearer ${ADMIN_TOKEN}` }
  const unread = await Promise.all(
    [1, 2].map(() => firm.core.host.app.request(`/access_reviews/${id}/evidence`, { headers })),
  )
  expect(unread.map(({ status }) => status)).toEqual([200, 200])
  const third = await downloadEvidence(id)
  expect(third.status).toBe(429)
  expect(third.headers.get('retry-after')).toBe('30')
  for (const { body } of unread) await body?.cancel()
  await until(
    'another evidence file can be downloaded',
    async () => (await downloadEvidence(id)).status === 200,
  )
})

test('people who may read reviews may take evidence, and this is logged', async () => {
  const { id } = await firm.launched(await firm.synced())
  const auditor = await person(firm.core.db, 'auditor@example.com', ['Auditor'])
  const admin = await person(firm.core.db, 'rita@example.com', ['Access Review Administrator'])
  expect(
    (await downloadEvidence(id, auditor.readOnlyToken)).headers.get('content-disposition'),
  ).toBe(`attachment; filename="keyway-review-${id}.jsonl"`)
  expect((await downloadEvidence(id, admin.token)).status).toBe(200)
  for (const who of [firm.ada, firm.mia])
    expect((await downloadEvidence(id, who.token)).status).toBe(403)
  expect((await downloadEvidence('none')).status).toBe(404)
  const { body } = await firm.core.call('GET', '/activity_logs?limit=100&offset=0')
  const { items } = (
    await firm.core.call('GET', `/activity_logs?limit=100&offset=${Math.max(0, body.total - 100)}`)
  ).body
  const events = items.filter(
    (one: { event_type: string }) => one.event_type === 'ACCESS_REVIEW_EVIDENCE_TAKEN',
  )
  expect(events.at(-2)).toMatchObject({
    ...{ targets: [{ id }], actor: { email: 'auditor@example.com' } },
    event_metadata: { key },
  })
})
