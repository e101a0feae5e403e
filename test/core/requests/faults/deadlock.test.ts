/** Many concurrent operations on requests of the same person. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, person } from '../../host.ts'
import type { Company } from '../company.ts'
import { type BadCompany, startBadCompany } from './bad-company.ts'
import type { BadSystem } from './bad-system.ts'

let bad: BadCompany
let system: BadSystem
let core: CoreHost
let acme: Company

beforeAll(async () => {
  bad = await startBadCompany()
  ;({ system, core, acme } = bad)
})
afterAll(() => bad.stop())

test('concurrent approvals and cancellations fail no call, and leave only the access of completed requests', async () => {
  const appId = await acme.connected(system.app)
  const labels = ['a', 'b', 'c']
  const permissions = await Promise.all(labels.map((label) => acme.group(appId, label, label)))
  const ada = await person(core.db, 'ada@acme.example')
  const statuses: number[] = []
  /** The permission of each request. */
  const asked = new Map<string, string>()
  const recordStatus = ({ status }: { status: number }) => statuses.push(status)
  async function one(n: number): Promise<void> {
    const made = await acme.ask(ada, {
      app_id: appId,
      requestable_permission_ids: [permissions[n % permissions.length]],
    })
    recordStatus(made)
    const id: string = made.body[0].id
    asked.set(id, labels[n % labels.length] ?? '')
    const task = await acme.openTask(id)
    const cancel = () => core.call('DELETE', `/appstore/access_requests/${id}`).then(recordStatus)
    await Promise.all([
      core.call('POST', `/tasks/${task.id}/complete`).then(recordStatus),
      cancel(),
    ])
    await cancel()
  }
  for (let round = 0; round < 5; round += 1)
    await Promise.all(Array.from({ length: 10 }, (_, n) => one(n)))
  expect(statuses.filter((status) => ![201, 204, 409].includes(status))).toEqual([])
  await until('no request has pending work', async () => {
    const { rows } = await core.db.execute(sql`select from access_requests where todo is not null`)
    return rows.length === 0
  })
  // COMPLETED: the access was granted before the cancellation, so it stays.
  const given = new Set<string>()
  for (const [id, label] of asked) {
    const status = await acme.statusOf(id)
    expect(['CANCELLED', 'COMPLETED']).toContain(status)
    if (status === 'COMPLETED') given.add(label)
  }
  const held = [...system.held.keys()].map((key) => key.split(' ')[1])
  expect(held.toSorted()).toEqual([...given].toSorted())
})
