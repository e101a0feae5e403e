/** Who may call /operator, and how others are refused. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIRST_ADMIN } from '../../../runtime/core/sign-in/first-admin.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { ADMIN_TOKEN, type CoreHost, type Person, person, startCore } from '../host.ts'

let core: CoreHost
let boss: Person
let reader: Person

beforeAll(async () => {
  core = await startCore()
  boss = await person(core.db, 'boss@example.com', ['Admin'])
  reader = await person(core.db, 'reader@example.com', ['Read Only Admin'])
})
afterAll(() => core.stop())

const list = (token: string | null) => core.call('GET', '/operator/connectors', { token })

describe('/operator accepts', () => {
  test.each([
    ['the operator’s token', () => ADMIN_TOKEN],
    ['an admin’s token', () => boss.token],
    ['an admin’s read-only token', () => boss.readOnlyToken],
  ])('%s', async (_name, token) => {
    expect(await list(token())).toMatchObject({ status: 200, body: { items: expect.any(Array) } })
  })

  test('the operator’s token even if its user is suspended', async () => {
    const suspend = (status: 'ACTIVE' | 'SUSPENDED') =>
      core.db.update(users).set({ status }).where(eq(users.email, FIRST_ADMIN))
    await suspend('SUSPENDED')
    expect((await core.call('GET', '/users/current')).status).toBe(401)
    expect((await list(ADMIN_TOKEN)).status).toBe(200)
    await suspend('ACTIVE')
  })
})

describe('/operator refuses', () => {
  test('a token of a person without permission to operate', async () => {
    expect(await list(reader.token)).toMatchObject({
      status: 403,
      body: { is_error: true, error: { error_code: 'permission_denied' } },
    })
  })

  test('a write with a read-only token', async () => {
    const answer = await core.call('POST', '/operator/connectors', { token: boss.readOnlyToken })
    expect(answer).toMatchObject({
      status: 403,
      body: { error: { message: 'This token is read-only' } },
    })
  })

  test.each([
    ['a request without a token', null],
    ['a malformed token', 'abc'],
    ['an unknown token', `lsk_${'x'.repeat(43)}`],
    ['the operator’s token with another character', `${ADMIN_TOKEN}x`],
  ])('%s', async (_name, token) => {
    const answer = await list(token)
    expect(answer).toMatchObject({
      status: 401,
      body: { error: { error_code: 'unauthenticated' } },
    })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('an admin who was suspended', async () => {
    const gone = await person(core.db, 'gone@example.com', ['Admin'])
    await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, gone.id))
    expect((await list(gone.token)).status).toBe(401)
  })
})
