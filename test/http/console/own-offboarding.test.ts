/** Who is offered offboarding and erasure in the console, and what the pages say if it is not possible. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, person, startCore } from '../../core/host.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let operator: string
let visitor: Visitor
beforeAll(async () => {
  core = await startCore()
  visitor = await signedIn(core)
  const { body } = await core.call('GET', '/users?search_term=admin@localhost')
  operator = `/console/people/${body.items[0].id}`
})
afterAll(() => core.stop())

test('neither offboarding nor erasure is offered for the user of the host', async () => {
  const other = await person(core.db, 'admin@example.com', ['Admin'])
  for (const one of [visitor, await signedIn(core, other.token)]) {
    const { text } = await one.get(operator)
    expect(text).toContain('When the person leaves')
    expect(text).not.toContain(`${operator}/offboard`)
    expect(text).not.toContain(`${operator}/erase`)
  }
})

test('people are offered the offboarding of others, but not their own', async () => {
  const own = await person(core.db, 'own@example.com', ['Admin'])
  const other = await person(core.db, 'other@example.com')
  const self = await signedIn(core, own.token)
  const page = `/console/people/${own.id}`
  expect((await self.get(page)).text).not.toContain(`${page}/offboard`)
  expect((await visitor.get(page)).text).toContain(`href="${page}/offboard"`)
  expect((await self.get(`/console/people/${other.id}`)).text).toContain('/offboard"')
})

test.each([
  ['en', 'the host created it for its operator'],
  ['de', 'Keyway hat sie für den Betrieb angelegt'],
])('an impossible offboarding is explained in %s, without a form', async (language, why) => {
  const inLanguage = { headers: { 'accept-language': language } }
  const asked = await visitor.get(`${operator}/offboard`, inLanguage)
  expect([asked.status, asked.text]).toEqual([400, expect.stringContaining(why)])
  expect(asked.text).not.toContain(`<form class="card" method="post"`)
  expect(asked.text).toContain(`<a class="btn" href="${operator}">`)
  // A form from an older page.
  const sent = await visitor.post(`${operator}/offboard`, { when: 'now' }, inLanguage)
  expect([sent.status, sent.text]).toEqual([400, expect.stringContaining(why)])
  expect(sent.text).not.toContain(`<form class="card" method="post"`)
})

test('an invalid field keeps the form', async () => {
  const other = await person(core.db, 'later@example.com')
  const path = `/console/people/${other.id}/offboard`
  await visitor.get(path)
  const { text } = await visitor.post(path, { when: 'later', day: '31.12.' })
  expect(text).toContain('Name the day')
  expect(text).toContain(`<form class="card" method="post"`)
})
