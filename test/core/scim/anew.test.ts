/** A new user with the address of a deleted one may be another person, and inherits nothing. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isEmail } from '../../../runtime/core/directory/email.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { app, type Person, person } from '../host.ts'
import { type Provider, refusal, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

/** Calls as the admin, or with a token. @returns the body of the reply, which must succeed */
async function asked(method: string, path: string, body?: object, token?: string) {
  const more = { ...(body === undefined ? {} : { body }), ...(token ? { token } : {}) }
  const reply = await provider.core.call(method, path, more)
  expect({ status: reply.status, body: reply.body }).toMatchObject({
    status: expect.toBeOneOf([200, 201]),
  })
  return reply.body
}

/** Deletes a user and creates a new one with the address once possible. @returns the id of the new user */
async function recreatedUser({ id }: Pick<Person, 'id'>, userName: string): Promise<string> {
  expect((await provider.scim('DELETE', `/Users/${id}`)).status).toBe(204)
  const reply = await until('the next user with this address is created', async () => {
    const made = await provider.scim('POST', '/Users', { userName })
    if (made.status === 201) return made
    expect(refusal(made)).toEqual([409, undefined])
    expect(made.body.detail).toMatch(/previous user with this address is in progress/)
    return null
  })
  return reply.body.id
}

test('a new user with the address of a deleted one has a new record, and the old record is kept', async () => {
  const { core, scim } = provider
  const gone = await person(core.db, 'next@acme.example', ['Admin'])
  const report = await provider.user('report@acme.example', { manager: gone.id })
  const next = await recreatedUser(gone, 'next@acme.example')
  expect(next).not.toBe(gone.id)
  expect((await scim('GET', `/Users/${gone.id}`)).status).toBe(404)
  const former = `next@acme.example.${gone.id.slice(0, 8)}.invalid`
  expect(await asked('GET', `/users/${gone.id}`)).toMatchObject({
    ...{ email: former, status: 'INACTIVE' },
  })
  expect(await asked('GET', `/users/${next}`)).toMatchObject({
    ...{ email: 'next@acme.example', status: 'ACTIVE' },
  })
  const [managed] = await core.db.select().from(users).where(eq(users.id, report))
  expect(managed?.managerId).toBe(gone.id)
  const [entry] = (await provider.logged('USER_PUSHED')).toReversed()
  expect(entry.event_metadata).toMatchObject({ source: 'SCIM', address_of: gone.id })
  const events = `/identity_events?identity_ids=${gone.id}&changed_fields=email`
  expect((await asked('GET', events)).identity_events.at(-1)).toMatchObject({
    ...{ old_field_value: 'next@acme.example', new_field_value: former },
  })
  // A third user with the address has a new record as well.
  const third = await recreatedUser({ id: next }, 'next@acme.example')
  expect(new Set([gone.id, next, third]).size).toBe(3)
})

test('the former address of a deleted user is an address, even if it is cut', async () => {
  const domain = Array.from({ length: 4 }, () => 'd'.repeat(58)).join('.')
  const long = `${'l'.repeat(12)}@${domain}`
  const gone = await provider.user(long)
  await recreatedUser({ id: gone }, long)
  const { email } = await asked('GET', `/users/${gone}`)
  expect(email).toMatch(new RegExp(`^l{12}@d{58}\\.[d.]+d\\.${gone.slice(0, 8)}\\.invalid$`))
  expect(isEmail(email)).toBe(true)
})

test('an existing user can be given the address of a deleted one', async () => {
  const gone = await provider.user('freed@acme.example')
  const other = await provider.user('other@acme.example')
  expect((await provider.scim('DELETE', `/Users/${gone}`)).status).toBe(204)
  const named = { op: 'replace', path: 'userName', value: 'Freed@acme.example' }
  const { body } = await until('the address is free for the other user', async () => {
    const reply = await provider.patch(`/Users/${other}`, named)
    if (reply.status === 200) return reply
    expect(refusal(reply)).toEqual([409, undefined])
    return null
  })
  expect(body).toMatchObject({ userName: named.value, emails: [{ value: named.value }] })
  expect(await asked('GET', `/users/${gone}`)).toMatchObject({
    email: `freed@acme.example.${gone.slice(0, 8)}.invalid`,
  })
  expect(await provider.logged('PUSHED_USER_CHANGED')).toContainEqual(
    expect.objectContaining({ event_metadata: expect.objectContaining({ address_of: gone }) }),
  )
})

test('a new user with the address does not inherit the approvals of the deleted one', async () => {
  const { core } = provider
  const gone = await person(core.db, 'second@acme.example', ['App Admin'])
  const first = await person(core.db, 'first@acme.example')
  const people = (...of: Person[]) => ({ users: of.map(({ id }) => ({ id })), groups: [] })
  const appId = await app(core.db, 'Ledger', { adminUserIds: [gone.id] })
  await asked('POST', '/appstore/apps', { app_id: appId })
  await asked('PATCH', `/appstore/apps/${appId}/settings`, {
    request_flow: {
      ...{ approvers: people(first), approvers_stage_2: people(gone) },
      require_additional_approval: true,
    },
  })
  const asker = await person(core.db, 'asker@acme.example')
  const [request] = await asked('POST', '/appstore/access_request', { app_id: appId }, asker.token)

  const next = await recreatedUser(gone, 'second@acme.example')
  const openTask = async () =>
    (
      await asked(
        'GET',
        `/tasks?show_all_tasks=true&access_request_id=${request.id}&status=PENDING`,
      )
    ).items[0]
  const task = await openTask()
  const done = await core.call('POST', `/tasks/${task.id}/complete`, { token: first.token })
  expect(done.status).toBe(204)
  expect((await asked('GET', `/appstore/access_requests/${request.id}`)).status).toBe(
    'PENDING_APPROVAL',
  )
  const second = await until('another task is open', async () => {
    const one = await openTask()
    return one && one.id !== task.id ? one : null
  })
  expect(JSON.stringify(second)).not.toContain(next)
})

test('a token of a deleted user does not work for a new user with the address', async () => {
  const gone = await person(provider.core.db, 'token@acme.example')
  // As an import or a sync of the identity source deactivates a person.
  await provider.core.db.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, gone.id))
  await recreatedUser(gone, 'token@acme.example')
  const reply = await provider.core.call('GET', '/users/current', { token: gone.token })
  expect(reply.status).toBe(401)
})
