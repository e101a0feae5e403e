/** Files attached to a review: who may attach them, how evidence has them, and which tasks require them. */
import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../../e2e/until.ts'
import { type Person, person, type Reply } from '../host.ts'
import { hasPython, verdictOfHost, verdictsOfScript } from './evidence/verdicts.ts'
import { type Reviewed, startReviewed, take } from './reviewed.ts'

let firm: Reviewed
let stranger: Person

beforeAll(async () => {
  firm = await startReviewed()
  stranger = await person(firm.core.db, 'stranger@example.com')
})
afterAll(() => firm.stop())
beforeEach(() => firm.reset())

const FILE = Buffer.from([0, 255, 61, 10, 13])
const SHA256 = createHash('sha256').update(FILE).digest('hex')
const file = {
  name: ' ticket.pdf ',
  media_type: 'application/pdf',
  content: FILE.toString('base64'),
}

const attach = (id: string, body: object, who?: Person): Promise<Reply> =>
  firm.post(`/access_reviews/${id}/evidence/uploads`, { ...file, ...body }, who)

/** The verdicts of both verifiers on the evidence, whose text may be changed first. */
async function verdicts(id: string, change = (text: string) => text): Promise<(string | null)[]> {
  const { keys } = (await firm.core.call('GET', '/.well-known/keyway-evidence-keys')).body
  const key = keys[0].fingerprint
  const { body } = await firm.core.call('GET', `/access_reviews/${id}/evidence`)
  const bytes = Buffer.from(change(body))
  return [
    await verdictOfHost(bytes, key),
    ...(hasPython ? await verdictsOfScript(key, { files: [bytes] }) : []),
  ]
}

test('reviewers of a line can attach a file to it, others cannot, and the evidence has the file', async () => {
  const { id, reviewAppId } = await firm.launched(await firm.synced())
  const line = await firm.line(id, 'ada Group g1')
  const mine = { item_ids: [line.id] }
  const made = await attach(id, mine, firm.mia)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const upload = {
    ...{
      arda_id: reviewAppId,
      item_ids: [line.id],
      name: 'ticket.pdf',
      media_type: 'application/pdf',
    },
    ...{ bytes: FILE.length, sha256: SHA256, by_id: firm.mia.id },
  }
  expect(made.body).toMatchObject(upload)
  expect((await attach(id, mine, stranger)).status).toBe(404)
  expect((await attach(id, mine, firm.ada)).status).toBe(404)
  const auditor = await person(firm.core.db, 'auditor@example.com', ['Auditor'])
  expect((await attach(id, mine, auditor)).status).toBe(403)
  expect((await attach(id, { arda_id: reviewAppId }, firm.mia)).status).toBe(403)
  expect((await attach(id, { arda_id: reviewAppId })).status).toBe(201)
  const list = await firm.core.call('GET', `/access_reviews/${id}/evidence/uploads`)
  expect(list.body).toMatchObject({ total: 2, items: [upload, { item_ids: [] }] })
  expect(new Set(await verdicts(id))).toEqual(new Set([null]))
  const { body } = await firm.core.call('GET', `/access_reviews/${id}/evidence`)
  const [first] = String(body)
    .split('\n')
    .filter((one) => one.includes('"kind":"upload"'))
    .map((one) => JSON.parse(one))
  expect(first).toMatchObject({ digest: SHA256, content: file.content, by_id: firm.mia.id })
  await firm.core.db.execute(sql`update access_review_uploads set digest = ${'0'.repeat(64)}`)
  for (const verdict of await verdicts(id))
    expect(verdict).toMatch(
      /is not the file that was attached.*the files differ from those in the log/,
    )
})

test('an upload without a target, for another review, or without a valid file is refused', async () => {
  const { id } = await firm.launched(await firm.synced())
  const other = await firm.launched(await firm.synced())
  const line = await firm.line(id, 'ada Group g1')
  const theirLine = await firm.line(other.id, 'ada Group g1')
  expect((await attach(id, {})).status).toBe(400)
  expect((await attach(id, { item_ids: [] })).status).toBe(400)
  expect((await attach(id, { item_ids: [line.id, theirLine.id] })).status).toBe(404)
  expect((await attach(id, { arda_id: other.reviewAppId })).status).toBe(404)
  for (const content of ['', 'a', 'not base64!', 'A'.repeat(960_004)])
    expect((await attach(id, { item_ids: [line.id], content })).status, content.slice(0, 20)).toBe(
      422,
    )
  for (const name of ['', ' ', 'n'.repeat(201)])
    expect((await attach(id, { item_ids: [line.id], name })).status).toBe(422)
})

test('with ALWAYS a manual removal task cannot be completed without a file', async () => {
  const id = await firm.made({ apps: [{ id: await firm.synced() }] })
  const reviewAppId = await firm.appReaches(id, 'IN_PROGRESS')
  const settings = {
    id: reviewAppId,
    removal_action: 'MANUAL',
    configurable_evidence_upload: 'ALWAYS',
  }
  const changed = await firm.core.call('PATCH', `/access_reviews/${id}`, {
    body: { apps: [settings] },
  })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  await firm.decided(id, 'ada Group g1', 'REJECT', firm.mia)
  await firm.post(`/access_reviews/${id}/complete`, {})
  const line = await firm.lineReaches(id, 'ada Group g1', 'WAITING_FOR_HANDS')
  const task = await until('the line has a manual task', async () => {
    const { items } = (await firm.core.call('GET', '/tasks?status=PENDING&size=100')).body
    return items.find((one: { instructions: string | null }) => one.instructions?.includes(line.id))
  })
  const complete = () => firm.post(`/tasks/${task.id}/complete`, {})
  const refused = await complete()
  expect(refused.status).toBe(409)
  expect(refused.body.detail).toContain(
    `/access_reviews/${id}/evidence/uploads and "item_ids":["${line.id}"]`,
  )
  expect((await attach(id, { item_ids: [line.id] })).status).toBe(201)
  take(firm.upstream, {
    account_integration_specific_id: 'ada',
    entitlement_integration_specific_id: 'g1',
  })
  expect((await complete()).status).toBe(204)
  await firm.lineReaches(id, 'ada Group g1', 'REMOVED')
  expect(new Set(await verdicts(id))).toEqual(new Set([null]))
})
