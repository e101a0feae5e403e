/** The second stage: a line that is kept despite a red hint must be confirmed by another person. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Person, person } from '../host.ts'
import { sync } from '../sync/synced.ts'
import { association } from '../sync/upstream.ts'
import { hasPython, verdictOfHost, verdictsOfScript } from './evidence/verdicts.ts'
import { holds, type Reviewed, startReviewed, statesOf } from './reviewed.ts'

let firm: Reviewed
let rita: Person
let sam: Person

beforeAll(async () => {
  firm = await startReviewed()
  rita = await person(firm.core.db, 'rita@example.com')
  sam = await person(firm.core.db, 'sam@example.com')
})
afterAll(() => firm.stop())
beforeEach(() => firm.reset())

const RED = 'bot Group g2'
const reason = 'it runs the backups'

/** A review by rita whose red lines sam confirms, unless the settings differ. */
async function launched(settings: object = {}): Promise<string> {
  const { id } = await firm.launched(
    await firm.synced(),
    {},
    {
      ...{ reviewers: 'NAMED', user_ids: [rita.id] },
      ...{ second_reviewers: 'NAMED', second_user_ids: [rita.id, sam.id], ...settings },
    },
  )
  return id
}

const keep = async (id: string, who: Person, more: object = {}) => {
  const { id: line } = await firm.line(id, RED)
  return firm.decide(id, who, { decision: 'KEEP', item_ids: [line], reason, ...more })
}
const tasksOf = async ({
  token,
}: Person): Promise<{ description: string; instructions: string }[]> =>
  (await firm.core.call('GET', '/tasks?task_type=ACCESS_REVIEW&status=PENDING', { token })).body
    .items

/** Checks that both verifiers accept the evidence of a review; without Python, that of the host does. */
async function expectValidEvidence(id: string): Promise<void> {
  const keys = await firm.core.call('GET', '/.well-known/keyway-evidence-keys', { token: null })
  const key = keys.body.keys[0].fingerprint
  const file = Buffer.from((await firm.core.call('GET', `/access_reviews/${id}/evidence`)).body)
  expect(await verdictOfHost(file, key)).toBeNull()
  if (hasPython) expect(await verdictsOfScript(key, { files: [file] })).toEqual([null])
}

test('a red line that one person keeps waits for a second person, who gets one task', async () => {
  const id = await launched()
  const before = (await tasksOf(sam)).length
  expect((await keep(id, rita)).body).toMatchObject({
    ...{ decided: 1, results: [{ state: 'TO_CONFIRM', error: null }] },
  })
  expect(await firm.line(id, RED)).toMatchObject({
    ...{ state: 'TO_CONFIRM', kept_by_id: rita.id, reviewer_user_ids: [sam.id] },
  })
  const asked = await tasksOf(sam)
  expect(asked).toHaveLength(before + 1)
  expect(asked.map(({ description }) => description).join()).toMatch(
    /Confirm lines that others kept/,
  )
  // Not red: one person is enough.
  await firm.decided(id, 'ben Group g1', 'KEEP', rita)
  expect(await firm.line(id, 'ben Group g1')).toMatchObject({ state: 'KEPT', kept_by_id: null })
  expect((await firm.lines(id, '&mine=true&state=OPEN&state=TO_CONFIRM', sam)).length).toBe(1)
  await expectValidEvidence(id)

  expect((await keep(id, sam, { reason: null })).status).toBe(400)
  expect((await keep(id, sam)).body.results).toMatchObject([{ state: 'KEPT', error: null }])
  expect(await tasksOf(sam)).toHaveLength(before)
  await expectValidEvidence(id)
})

test('the person who kept a line cannot confirm it, neither as a second reviewer nor by reassignment', async () => {
  const id = await launched()
  await keep(id, rita)
  const again = await keep(id, rita, { change: true })
  expect(again.body).toMatchObject({ decided: 0, results: [{ state: null }] })
  const { id: line } = await firm.line(id, RED)
  const to = (who: Person) =>
    firm.post(`/access_reviews/${id}/items/${line}/reassign`, { user_ids: [who.id], reason }, sam)
  expect((await to(rita)).body.detail).toMatch(
    /A line cannot be confirmed by the person who kept it/,
  )
  expect((await to(firm.mia)).body).toMatchObject({ reviewer_user_ids: [firm.mia.id] })
  expect((await keep(id, firm.mia)).body.decided).toBe(1)
})

test('a line that the second reviewer rejects is removed', async () => {
  const id = await launched()
  await keep(id, rita)
  expect((await keep(id, sam, { decision: 'REJECT' })).body.decided).toBe(1)
  expect((await firm.post(`/access_reviews/${id}/complete`, {})).status).toBe(200)
  await firm.lineReaches(id, RED, 'REMOVED')
  expect(holds(firm.upstream, 'bot', 'g2')).toBe(false)
  await expectValidEvidence(id)
})

test('a rejected line that is kept after all must be confirmed, too', async () => {
  const id = await launched()
  await keep(id, rita, { decision: 'REJECT' })
  expect((await keep(id, rita, { change: true })).body.results).toMatchObject([
    { state: 'TO_CONFIRM' },
  ])
  await expectValidEvidence(id)
})

test.each([
  ['LEAVE', 'NOT_DECIDED'],
  ['REMOVE', 'REMOVED'],
])('an unconfirmed line at a deadline with %s becomes %s', async (on_deadline, state) => {
  const id = await launched({ on_deadline })
  await keep(id, rita)
  await firm.core.db.execute(
    sql`update access_reviews set deadline_at = now(), wake_at = now() where id = ${id}`,
  )
  await firm.lineReaches(id, RED, state)
  await expectValidEvidence(id)
})

test('a line that an admin keeps after a deadline with ESCALATE waits for the second reviewers', async () => {
  const { core } = firm
  const id = await launched({ on_deadline: 'ESCALATE' })
  const admin: string = (await core.call('GET', '/users/current')).body.id
  const askedOf = async () => (await firm.line(id, RED)).reviewer_user_ids.sort()
  await core.db.execute(
    sql`update access_reviews set deadline_at = now(), wake_at = now() where id = ${id}`,
  )
  await expect.poll(askedOf, { timeout: 20_000 }).toEqual([admin])
  const { id: line } = await firm.line(id, RED)
  const body = { decision: 'KEEP', item_ids: [line], reason }
  const kept = await firm.post(`/access_reviews/${id}/items/decide`, body)
  expect(kept.body.results).toMatchObject([{ state: 'TO_CONFIRM' }])
  const second = [rita.id, sam.id].sort()
  expect(await askedOf()).toEqual(second)
  await core.db.execute(sql`update access_reviews set wake_at = now() where id = ${id}`)
  const isLookedAt = async () => {
    const { rows } = await core.db.execute<{ done: boolean }>(
      sql`select wake_at > now() as done from access_reviews where id = ${id}`,
    )
    return rows[0]?.done
  }
  await expect.poll(isLookedAt, { timeout: 20_000 }).toBe(true)
  expect(await askedOf()).toEqual(second)
})

test('removal waits for unconfirmed lines, and a sync that finds one gone makes it VANISHED', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await firm.launched(
    appId,
    {},
    {
      ...{ reviewers: 'NAMED', user_ids: [rita.id] },
      ...{ second_reviewers: 'NAMED', second_user_ids: [sam.id] },
    },
  )
  await firm.decide(id, rita, { decision: 'KEEP', filter: {}, reason })
  expect(statesOf(await firm.lines(id))).toMatchObject({
    'ada Group g1': 'KEPT',
    [RED]: 'TO_CONFIRM',
  })
  const removal = await firm.post(`/access_reviews/${id}/apps/${reviewAppId}/start-removal`, {})
  expect(removal.body.detail).toMatch(/1 lines are open/)
  firm.upstream.holds.associations = [association('ada', 'g1'), association('ada', 'g2')]
  await sync(firm.core, appId)
  await firm.lineReaches(id, RED, 'VANISHED')
  await expectValidEvidence(id)
})

test('second reviewers must be named with NAMED, and only then', async () => {
  const id = await firm.made()
  const put = (body: object) => firm.core.call('PUT', `/access_reviews/${id}/settings`, { body })
  expect((await put({ second_reviewers: 'NAMED' })).body.detail).toMatch(/NAMED needs at least one/)
  expect((await put({ second_user_ids: [sam.id] })).body.detail).toMatch(/count only with/)
  expect((await put({ second_reviewers: 'MANAGERS' })).body).toMatchObject({
    ...{ second_reviewers: 'MANAGERS', second_user_ids: [], second_group_ids: [] },
  })
  expect((await put({})).body).toMatchObject({ second_reviewers: null })
})
