/** Revoking access in the pages: who is offered it, what the form asks, and what is shown afterwards. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reasonSpans } from '../../../runtime/database/schema/history.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { app, type CoreHost, type Person, person, startCore } from '../../core/host.ts'
import { type Company, company } from '../../core/requests/company.ts'
import { signedIn } from '../settings/visitor.ts'

let core: CoreHost
let acme: Company
let ada: Person
let manager: Person
let appId: string
beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  manager = await person(core.db, 'manager@example.com', ['App Admin'])
  appId = await acme.inStore(await app(core.db, 'Safe', { adminUserIds: [manager.id] }))
})
afterAll(() => core.stop())

/** A completed request whose access was given by hand. */
async function held(): Promise<string> {
  const id = await acme.asked(ada, { app_id: appId })
  for (const next of ['PENDING_MANUAL_PROVISIONING', 'COMPLETED']) {
    await acme.settle(id, 'complete')
    await acme.reaches(id, next)
  }
  return id
}

const pathOf = (id: string): string => `/console/requests/${id}/revoke`
const pageOf = (id: string): string => `/access/requests/${id}`

test('an admin of the app revokes a request with a reason, which the holder can read', async () => {
  const id = await held()
  const visitor = await signedIn(core, manager.token)
  expect((await visitor.get(pageOf(id))).text).toContain(`href="${pathOf(id)}"`)
  const asking = (await visitor.get(pathOf(id))).text
  expect(asking).toMatch(/ada.* no longer has “Access” in Safe/)
  expect(asking).toContain('A person is asked to take it back by hand')
  const without = await visitor.post(pathOf(id), { reason: ' ' })
  expect(without.status).toBe(422)
  expect(await acme.statusOf(id)).toBe('COMPLETED')

  const done = await visitor.post(pathOf(id), { reason: 'It was <b>shared</b>' })
  expect([done.status, done.headers.get('location')]).toEqual([303, pageOf(id)])
  const after = (await visitor.get(pageOf(id))).text
  expect(after).toContain('It is revoked. Below is how far it is.')
  expect(after).toContain('You revoked it')
  expect(after).not.toContain(pathOf(id))

  await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
  const holder = await signedIn(core, ada.token)
  const leaving = (await holder.get('/access')).text
  expect(leaving).toContain('manager Test revoked it')
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'REVERTED')
  for (const page of ['/access', pageOf(id)]) {
    const { text } = await holder.get(page)
    expect(text).toContain('manager Test revoked it')
    expect(text).toContain('“It was &lt;b&gt;shared&lt;/b&gt;”')
    expect(text).toMatch(/class="badge ">.*Revoked</)
  }
  // Sending the form again changes nothing.
  expect((await visitor.post(pathOf(id), { reason: 'Again' })).status).toBe(303)
  expect((await acme.read(id)).notes.REVERTING).toBe('It was <b>shared</b>')
})

test('the form is available in German, and says which other requests end', async () => {
  const [first] = [await held(), await held()]
  await acme.asked(ada, { app_id: appId })
  const visitor = await signedIn(core, manager.token)
  const { text } = await visitor.get(pathOf(first), { headers: { 'accept-language': 'de' } })
  for (const words of [
    'Zugang widerrufen',
    '„Zugang“ in Safe nicht mehr',
    '1 weitere Anfrage, die dasselbe gewährt, endet ebenfalls',
    '1 wartende Anfrage nach demselben wird abgebrochen',
  ])
    expect(text).toContain(words)
  expect(await acme.statusOf(first)).toBe('COMPLETED')
})

describe('a person who may not revoke', () => {
  test('sees no link to the form, and is refused at its address', async () => {
    const id = await held()
    const reader = await person(core.db, 'reader@example.com', ['Read Only Admin'])
    for (const who of [ada, reader]) {
      const visitor = await signedIn(core, who.token)
      expect((await visitor.get(pageOf(id))).text).not.toContain(pathOf(id))
      await visitor.get('/settings/personal')
      const { status } = await visitor.post(pathOf(id), { reason: 'For fun' })
      expect([403, 404]).toContain(status)
    }
    expect(await acme.statusOf(id)).toBe('COMPLETED')
  })

  test('is told to change the policy that gives the access', async () => {
    const id = await held()
    const policy = {
      ...{ name: 'Everybody', business_justification: 'All', is_enabled: false },
      ...{ is_everyone_condition: true, apps: [{ id: appId }] },
    }
    const { body } = await core.call('POST', '/access_policies', { body: policy })
    await core.db.update(accessRequests).set({ policyId: body.id }).where(eq(accessRequests.id, id))
    await core.db
      .update(reasonSpans)
      .set({ policyId: body.id })
      .where(eq(reasonSpans.requestId, id))
    const visitor = await signedIn(core, manager.token)
    const { status, text } = await visitor.get(pathOf(id))
    expect(status).toBe(409)
    expect(text).toContain('The access policy “Everybody” gives this')
    expect(text).not.toContain('name="reason"')
    // The pages that otherwise have the button say so, too.
    const at = `href="/console/policies/${body.id}"`
    const page = (await visitor.get(pageOf(id))).text
    expect(page).not.toContain(pathOf(id))
    expect(page).toContain('Given by policy “Everybody”')
    expect(page).toContain('To revoke it, change who the policy is for, or what it gives.')
    expect(page).not.toContain(at)
    const admin = await signedIn(core)
    expect((await admin.get(pageOf(id))).text).toContain(at)
    const reader = await person(core.db, 'third-reader@example.com', ['Read Only Admin'])
    const read = (await (await signedIn(core, reader.token)).get(pageOf(id))).text
    expect(read).not.toContain('To revoke it')
    const personPage = (await admin.get(`/console/people/${ada.id}`)).text
    expect(personPage).toMatch(/Policy “Everybody”<\/a><span class="sub">To revoke it, change who/)
  })
})

test('admins find the link to revoke in the access list of a person', async () => {
  const zoe = await person(core.db, 'zoe@example.com')
  const id = await acme.asked(zoe, { app_id: appId })
  for (const next of ['PENDING_MANUAL_PROVISIONING', 'COMPLETED']) {
    await acme.settle(id, 'complete')
    await acme.reaches(id, next)
  }
  const page = `/console/people/${zoe.id}`
  expect((await (await signedIn(core)).get(page)).text).toContain(`href="${pathOf(id)}"`)
  const reader = await person(core.db, 'second-reader@example.com', ['Read Only Admin'])
  expect((await (await signedIn(core, reader.token)).get(page)).text).not.toContain(pathOf(id))
})
