/** Stuck requests and apps, as an operator finds them; the advice of the symptoms page resolves them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { appOutages } from '../../../../runtime/database/schema/apps.ts'
import { until } from '../../../e2e/until.ts'
import { shows } from '../../../symptoms.ts'
import { type BadCompany, startBadCompany } from './bad-company.ts'

let bad: BadCompany
let appId: string

beforeAll(async () => {
  bad = await startBadCompany()
  appId = await bad.acme.connected(bad.system.app)
})
afterAll(() => bad.stop())

async function approved(expiration_in_seconds: number): Promise<string> {
  return (await bad.approved({ app_id: appId, expiration_in_seconds })).id
}

const outage = async () =>
  (await bad.core.db.select().from(appOutages)).find((one) => one.appId === appId)

const tasks = async (status: string) =>
  (
    await bad.core.call('GET', `/tasks?show_all_tasks=true&status=${status}&size=50`)
  ).body.items.filter(({ task_type }: { task_type: string }) => task_type === 'APP_NOT_ANSWERING')

it('requests wait while the system rejects the credentials; a task says so, and its “retry” ends the wait', async () => {
  const { system, core, acme } = bad
  const leaving = await approved(2)
  await acme.reaches(leaving, 'COMPLETED')
  system.behave(() => 'denied')
  const coming = await approved(100_000)
  await acme.reaches(leaving, 'PENDING_DEPROVISIONING')
  await acme.reaches(coming, 'PENDING_PROVISIONING')
  const [task] = await until('the outage has a task', async () => {
    const found = await tasks('PENDING')
    return found.length > 0 && found
  })
  shows('a task `APP_NOT_ANSWERING`', task)
  shows('a request stays', await acme.read(leaving), await acme.read(coming))
  const { body: calls } = await core.call('GET', `/operator/calls?app_id=${appId}`)
  expect(JSON.stringify(calls)).toContain('"unauthenticated"')
  // A directory locks an account after repeated failures, so the next attempt is five minutes away.
  const { attempts, since, until: nextAt } = (await outage()) ?? {}
  expect(attempts).toBe(1)
  expect(Number(nextAt) - Number(since)).toBe(300_000)
  system.behave(() => 'well')
  const retry = { body: { action_type: 'retry' } }
  expect((await core.call('POST', `/tasks/${task.id}/perform-action`, retry)).status).toBe(204)
  await acme.reaches(leaving, 'TIME_BASED_EXPIRED')
  await acme.reaches(coming, 'COMPLETED')
})

it('an outage has one task, which stays open until the reconnected app answers', async () => {
  const { system, core, acme } = bad
  system.behave(() => 'denied')
  const coming = await approved(100_000)
  const openTaskIds = () =>
    until('the outage has a task', async () => {
      const found = await tasks('PENDING')
      return found.length > 0 && found.map(({ id }: { id: string }) => id)
    })
  const [task] = await openTaskIds()
  const attempts = async () => Number((await outage())?.attempts)
  const reconnect = async () =>
    expect((await core.call('PUT', `/apps/${appId}`, { body: system.app })).status).toBe(200)
  const before = await attempts()
  await reconnect()
  await until('another attempt has failed', async () => (await attempts()) > before)
  expect(await openTaskIds()).toEqual([task])
  system.behave(() => 'well')
  await reconnect()
  await acme.reaches(coming, 'COMPLETED')
  await until('the task is closed', async () => (await tasks('PENDING')).length === 0)
  expect((await core.call('GET', `/tasks/${task}`)).body.status).toBe('COMPLETED')
})

it('calls that the system refuses become manual tasks, which can be retried', async () => {
  const { system, acme } = bad
  const leaving = await approved(2)
  await acme.reaches(leaving, 'COMPLETED')
  system.behave((name) => (/^(de|create)/.test(name) ? 'refused' : 'well'))
  const coming = await approved(100_000)
  await acme.reaches(coming, 'PENDING_MANUAL_PROVISIONING')
  await acme.reaches(leaving, 'PENDING_MANUAL_DEPROVISIONING')
  shows('a request is `PENDING_MANUAL', await acme.read(leaving), await acme.read(coming))
  for (const id of [leaving, coming])
    expect((await acme.openTask(id)).instructions).toContain('the system answered 400')
  system.behave(() => 'well')
  for (const id of [leaving, coming]) await acme.retry(id)
  await acme.reaches(leaving, 'TIME_BASED_EXPIRED')
  await acme.reaches(coming, 'COMPLETED')
})
