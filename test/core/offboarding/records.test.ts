/** Offboardings as records: what may be scheduled, read and cancelled. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FIRST_ADMIN } from '../../../runtime/core/sign-in/first-admin.ts'
import { accounts } from '../../../runtime/database/schema/apps.ts'
import { userOffboardings } from '../../../runtime/database/schema/offboarding.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { app, type CoreHost, domainOf, logged, person, startCore } from '../host.ts'

const PATH = '/lifecycle-management/user-offboardings'
const LATER = '2999-01-01T00:00:00Z'

let core: CoreHost
beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  await core.host.settled
})
afterAll(() => core.stop())

const post = (body: object, token?: string) =>
  core.call('POST', PATH, { body, ...(token === undefined ? {} : { token }) })

test('a scheduled offboarding can be read, cancelled once, and scheduled again', async () => {
  const { id: user_id } = await person(core.db, 'later@acme.example')
  const { status, body } = await post({ user_id, scheduled_at: LATER })
  expect([status, body]).toEqual([
    201,
    {
      id: expect.any(String),
      user_id,
      status: 'SCHEDULED',
      scheduled_at: '2999-01-01T00:00:00.000Z',
      created_at: expect.any(String),
      cancelled_at: null,
      completed_at: null,
    },
  ])
  expect((await core.call('GET', `${PATH}/${body.id}`)).body).toEqual(body)
  expect((await post({ user_id })).status).toBe(409)
  expect((await core.call('POST', `${PATH}/${body.id}/cancel`)).status).toBe(204)
  const { body: cancelled } = await core.call('GET', `${PATH}/${body.id}`)
  expect(cancelled).toMatchObject({ status: 'CANCELLED', cancelled_at: expect.any(String) })
  expect((await core.call('POST', `${PATH}/${body.id}/cancel`)).status).toBe(409)
  expect((await post({ user_id, scheduled_at: LATER })).status).toBe(201)
})

test('a person who has left can be offboarded again only if an account is left', async () => {
  const { id: user_id } = await person(core.db, 'left@acme.example')
  const { body } = await post({ user_id })
  await until('the offboarding is COMPLETED', async () => {
    const { body: now } = await core.call('GET', `${PATH}/${body.id}`)
    return now.status === 'COMPLETED' ? now : null
  })
  expect(await post({ user_id })).toMatchObject({
    status: 409,
    body: { detail: 'This user has been offboarded and has no access left' },
  })
  const domainId = await domainOf(core.db)
  const [left] = await core.db
    .insert(accounts)
    .values({
      ...{ domainId, appId: await app(core.db, 'Forgotten'), userId: user_id },
      ...{ uniqueIdentifier: 'left', status: 'ACTIVE' as const, accountType: 'USER' as const },
    })
    .returning()
  expect(left?.userId).toBe(user_id)
  expect((await post({ user_id })).status).toBe(201)
})

test('concurrent calls create a single offboarding of a user', async () => {
  const { id: user_id } = await person(core.db, 'twice@acme.example')
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => post({ user_id, scheduled_at: LATER })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
})

test.each([
  ['a time in the past', { scheduled_at: '2001-01-01T00:00:00Z' }, 400],
  ['an invalid time', { scheduled_at: 'tomorrow' }, 422],
  ['an unknown member', { reason: 'x' }, 422],
])('%s is refused', async (_, more, expected) => {
  const { id: user_id } = await person(core.db, `${Math.random()}@acme.example`)
  expect((await post({ user_id, ...more })).status).toBe(expected)
})

test('an unknown user is refused with 404, the host’s own admin with 400, the last Admin with 409', async () => {
  expect((await post({ user_id: 'nobody' })).status).toBe(404)
  const [own] = await core.db.select().from(users).where(eq(users.email, FIRST_ADMIN))
  expect((await post({ user_id: own?.id })).status).toBe(400)
  const boss = await person(core.db, 'boss@acme.example', ['Admin'])
  await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.email, FIRST_ADMIN))
  const refused = await post({ user_id: boss.id }, boss.token)
  expect(refused.status).toBe(409)
  await core.db.update(users).set({ status: 'ACTIVE' }).where(eq(users.email, FIRST_ADMIN))
})

test('the offboarding of a person who became the last Admin fails, and the admins get a task', async () => {
  const chief = await person(core.db, 'chief@acme.example', ['Admin'])
  const { body } = await post({ user_id: chief.id, scheduled_at: LATER })
  await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.email, FIRST_ADMIN))
  await core.db
    .update(users)
    .set({ status: 'SUSPENDED' })
    .where(eq(users.email, 'boss@acme.example'))
  await core.db
    .update(userOffboardings)
    .set({ wakeAt: new Date() })
    .where(eq(userOffboardings.id, body.id))
  await until('the offboarding is FAILED', async () => {
    const { body: now } = await core.call('GET', `${PATH}/${body.id}`, { token: chief.token })
    return now.status === 'FAILED' ? now : null
  })
  const { body: tasks } = await core.call('GET', '/tasks?task_category=ERROR', {
    token: chief.token,
  })
  expect(tasks.items).toMatchObject([
    { task_type: 'OFFBOARDING_ERROR', product_area: 'OFFBOARDING' },
  ])
  expect(logged(core, 'offboarding', body.id)).toEqual([
    'error: an offboarding failed; the admins have a task with the reason',
  ])
  await core.db.update(users).set({ status: 'ACTIVE' }).where(eq(users.email, FIRST_ADMIN))
})

test('people without the right cannot offboard anyone', async () => {
  const { id: user_id } = await person(core.db, 'target@acme.example')
  const auditor = await person(core.db, 'auditor@acme.example', ['Auditor'])
  expect((await post({ user_id }, auditor.token)).status).toBe(403)
})
