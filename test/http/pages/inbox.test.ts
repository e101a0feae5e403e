/** The inbox: open tasks with their context, and the decisions that are sent from it. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findings } from '../../../runtime/database/schema/findings.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { tasks } from '../../../runtime/database/schema/tasks.ts'
import { withChecksPaused } from '../../core/findings/paused-checks.ts'
import {
  app,
  type CoreHost,
  domainOf,
  type Person,
  person,
  startCore,
  task,
} from '../../core/host.ts'
import { type Company, company } from '../../core/requests/company.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let acme: Company
let ada: Person
let boss: Person
let appId: string
let visitor: Visitor
beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  boss = await person(core.db, 'boss@example.com')
  await acme.setManager(ada.id, boss.id)
  appId = await acme.inStore(await app(core.db, 'Warehouse'), { require_manager_approval: true })
  visitor = await signedIn(core, boss.token)
})
afterAll(() => core.stop())

const asked = () =>
  acme.asked(ada, { app_id: appId, business_justification: 'Month end', access_length: '8 hours' })

const taskOf = async (requestId: string): Promise<string> => (await acme.openTask(requestId)).id

describe('the inbox', () => {
  test('is empty for a person without tasks', async () => {
    const eve = await signedIn(core, (await person(core.db, 'eve@example.com')).token)
    const { text } = await eve.get('/inbox')
    // Also on a phone, which shows either the list or the detail.
    expect(text).toMatch(/<div class="split clear">[\s\S]*Nothing waits for you/)
    expect(text).toMatch(/<a class="[^"]*wide-only" href="#keys"/)
  })

  test('lists open tasks, and shows a task with its request and context', async () => {
    const id = await taskOf(await asked())
    const list = (await visitor.get('/inbox')).text
    expect(list).toContain(`href="/inbox/${id}"`)
    expect(list).toContain(
      '>ada Test<span class="unseen">: access in Warehouse, for 8 hours</span>',
    )
    const { text } = await visitor.get(`/inbox/${id}`)
    expect(text).toContain('Month end')
    expect(text).toContain('<b>for 8 hours</b>')
    expect(text).toContain('Has not had it before')
    expect(text).toContain('value="approve"')
  })

  test('shows findings about the access of the person, also in German', async () => {
    const id = await taskOf(await asked())
    const found = { kind: 'DORMANT_PRIVILEGE', severity: 'HIGH', subject: id } as const
    const domainId = await domainOf(core.db)
    const about = { domainId, appId, userId: ada.id, details: { label: 'Owners <b>' } }
    await withChecksPaused(core.db, `app ${appId}`, async () => {
      await core.db.insert(findings).values({ ...found, ...about })
      const { text } = await visitor.get(`/inbox/${id}`)
      expect(text).toContain('Owners &lt;b&gt;: Privileged access unused for 90 days')
      const german = await visitor.get(`/inbox/${id}`, { headers: { 'accept-language': 'de' } })
      expect(german.text).toContain('Privilegierter Zugang, den seit 90 Tagen niemand nutzt')
      await core.db.delete(findings)
      expect((await visitor.get(`/inbox/${id}`)).text).not.toContain('Owners')
    })
  })

  test('shows the description of an approval that has no request', async () => {
    const id = await task(core.db, { userIds: [boss.id], appId })
    await core.db.update(tasks).set({ targetUserId: ada.id }).where(eq(tasks.id, id))
    const { text } = await visitor.get(`/inbox/${id}`)
    expect(text).toContain('id="h-task">ACCESS of APPROVAL</h1>')
    expect(text).not.toContain('without an end')
  })

  test('names an access policy as the requester if no person asked', async () => {
    const requestId = await asked()
    const id = await taskOf(requestId)
    await core.db
      .update(accessRequests)
      .set({ requesterId: null })
      .where(eq(accessRequests.id, requestId))
    const { text } = await visitor.get(`/inbox/${id}`)
    expect(text).toMatch(
      /id="h-task">An access policy asks for <b>access<\/b> in <b>Warehouse<\/b> for <b>ada Test<\/b>/,
    )
  })

  test('does not show the tasks of other people', async () => {
    const id = await taskOf(await asked())
    const other = await signedIn(core, ada.token)
    expect((await other.get(`/inbox/${id}`)).status).toBe(404)
    await other.get('/inbox')
    expect((await other.post(`/inbox/${id}`, { action_type: 'approve' })).status).toBe(404)
  })
})

describe('a decision', () => {
  const decide = async (id: string, fields: Record<string, string>) => {
    await visitor.get(`/inbox/${id}`)
    return visitor.post(`/inbox/${id}`, fields)
  }

  test('is made with its reason, and leads to the next task', async () => {
    const [first, second] = [await asked(), await asked()]
    await taskOf(second)
    const sent = await decide(await taskOf(first), { action_type: 'approve', reason: 'Agreed' })
    expect(sent.status).toBe(303)
    expect(sent.headers.get('location')).toMatch(/^\/inbox\/[\w-]+$/)
    expect((await visitor.get(sent.headers.get('location') ?? '')).text).toContain(
      'Approved: access in Warehouse for ada Test. Next:',
    )
    const { body } = await core.call('GET', `/appstore/access_requests/${first}`)
    expect(body.notes.MANAGER_APPROVED).toBe('Agreed')
  })

  test('to deny requires a reason, which the requester can read', async () => {
    const requestId = await asked()
    const id = await taskOf(requestId)
    const without = await decide(id, { action_type: 'deny', reason: ' ' })
    expect(without.status).toBe(422)
    expect(without.text).toContain('Say why')
    expect(await acme.statusOf(requestId)).toBe('PENDING_MANAGER_APPROVAL')
    await decide(id, { action_type: 'deny', reason: 'Ask for less' })
    const reader = await signedIn(core, ada.token)
    expect((await reader.get(`/access/requests/${requestId}`)).text).toContain('“Ask for less”')
  })

  test('that arrives late is refused, and the page shows how the task ended', async () => {
    const id = await taskOf(await asked())
    await visitor.get(`/inbox/${id}`)
    await core.call('POST', `/tasks/${id}/complete`)
    const late = await visitor.post(`/inbox/${id}`, { action_type: 'deny', reason: 'No' })
    expect(late.status).toBe(400)
    expect(late.text).toContain('settled this with yes')
    expect(late.text).toContain('Nothing was done')
    expect(late.text).not.toContain('id="why-problem"')
    expect(late.text).toContain('The task is over already: the page shows how it ended.')
    const german = { headers: { 'accept-language': 'de' } }
    const lateInGerman = await visitor.post(
      `/inbox/${id}`,
      { action_type: 'deny', reason: 'No' },
      german,
    )
    expect(lateInGerman.text).toContain('Die Aufgabe ist schon erledigt')
    expect(lateInGerman.text).not.toMatch(/COMPLETED already/)
  })

  test('that is sent again from another tab, or after going back, is refused', async () => {
    const requestId = await asked()
    const id = await taskOf(requestId)
    const open = await visitor.get(`/inbox/${id}`)
    // With no-store, the browser loads the page again when the person goes back.
    expect(open.headers.get('cache-control')).toContain('no-store')
    const sent = await visitor.post(`/inbox/${id}`, { action_type: 'approve', reason: 'Yes' })
    expect(sent.status).toBe(303)
    const again = await visitor.post(`/inbox/${id}`, { action_type: 'deny', reason: 'Or no' })
    expect(again.status).toBe(400)
    expect(again.text).toContain('Nothing was done')
    const { body } = await core.call('GET', `/appstore/access_requests/${requestId}`)
    expect(body.notes.MANAGER_APPROVED).toBe('Yes')
    expect((await visitor.get(`/inbox/${id}`)).text).not.toContain('value="deny"')
  })

  test('is offered neither to the requester nor with a read-only token', async () => {
    const admin = await person(core.db, 'asks@example.com', ['Admin'])
    await acme.setManager(admin.id, boss.id)
    const id = await taskOf(await acme.asked(admin, { app_id: appId }))
    for (const token of [admin.token, boss.readOnlyToken]) {
      const { status, text } = await (await signedIn(core, token)).get(`/inbox/${id}`)
      expect(status).toBe(200)
      expect(text).not.toContain('name="action_type"')
    }
    expect((await visitor.get(`/inbox/${id}`)).text).toContain('name="action_type"')
  })

  test('that the task does not offer is refused, and does nothing', async () => {
    const requestId = await asked()
    const id = await taskOf(requestId)
    for (const action_type of ['confirm', 'constructor', ''])
      expect((await decide(id, { action_type })).status).toBe(400)
    expect(await acme.statusOf(requestId)).toBe('PENDING_MANAGER_APPROVAL')
  })
})

test('after an approval, the next approver is named, and own manual work for the request comes next', async () => {
  const lead = await person(core.db, 'lead@example.com')
  const last = await person(core.db, 'amir@example.com')
  const kim = await person(core.db, 'kim@example.com')
  await acme.setManager(kim.id, lead.id)
  const flow = {
    require_manager_approval: true,
    approvers: { users: [{ id: last.id }], groups: [] },
  }
  const studio = await acme.inStore(await app(core.db, 'Studio', { adminUserIds: [last.id] }), flow)
  const approve = async (who: Person, request: string) => {
    const reader = await signedIn(core, who.token)
    const id = await taskOf(request)
    await reader.get(`/inbox/${id}`)
    const sent = await reader.post(`/inbox/${id}`, { action_type: 'approve', reason: '' })
    const to = sent.headers.get('location') ?? ''
    return { to, text: (await reader.get(to)).text }
  }
  const request = await acme.asked(kim, { app_id: studio })
  const first = await approve(lead, request)
  expect(first.to).toBe('/inbox')
  expect(first.text).toContain('Approved: access in Studio for kim Test. Then amir Test decides.<')
  // This task is older than the manual task that the decision below creates.
  await task(core.db, { category: 'GENERIC', userIds: [last.id] })
  const second = await approve(last, request)
  expect(second.to).toBe(`/inbox/${await taskOf(request)}`)
  expect(second.text).toContain('Approved: access in Studio for kim Test. Now give it by hand:<')
})

test('the decision is confirmed also if no task is left, and in German', async () => {
  const chief = await person(core.db, 'chief@example.com')
  const max = await person(core.db, 'max@example.com')
  await acme.setManager(max.id, chief.id)
  const reader = await signedIn(core, chief.token)
  const decide = async (action_type: string) => {
    const id = await taskOf(await acme.asked(max, { app_id: appId }))
    await reader.get(`/inbox/${id}`)
    const sent = await reader.post(`/inbox/${id}`, { action_type, reason: 'So' })
    expect(sent.headers.get('location')).toBe('/inbox')
  }
  await decide('deny')
  const { text } = await reader.get('/inbox')
  expect(text).toContain('Denied: access in Warehouse for max Test.<')
  await decide('approve')
  const { text: german } = await reader.get('/inbox', { headers: { 'accept-language': 'de' } })
  expect(german).toContain('Genehmigt: Zugang in Warehouse für max Test.<')
})

describe('a comment', () => {
  test('is written by a person who may decide, and is shown with the task', async () => {
    const id = await taskOf(await asked())
    await visitor.get(`/inbox/${id}`)
    const sent = await visitor.post(`/inbox/${id}/comment`, { comment: 'Asked <b>Eve</b> first' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `/inbox/${id}`])
    const { text } = await visitor.get(`/inbox/${id}`)
    expect(text).toContain('Comments (1)')
    expect(text).toContain('Asked &lt;b&gt;Eve&lt;/b&gt; first')
    expect(text).toContain('Your comment was added.')
  })

  test('without text is refused, and so is a comment by a person without the task', async () => {
    const id = await taskOf(await asked())
    await visitor.get(`/inbox/${id}`)
    const empty = await visitor.post(`/inbox/${id}/comment`, { comment: ' \r\n ' })
    expect([empty.status, empty.text]).toEqual([422, expect.stringContaining('Write the comment')])
    const other = await signedIn(core, ada.token)
    await other.get('/inbox')
    expect((await other.post(`/inbox/${id}/comment`, { comment: 'x' })).status).toBe(404)
  })
})

describe('reassigning a decision', () => {
  const give = async (id: string, to: string) => {
    await visitor.get(`/inbox/${id}`)
    return visitor.post(`/inbox/${id}/reassign`, { person: to })
  }

  test('moves the task to the other person', async () => {
    const standIn = await person(core.db, 'stand@example.com')
    const id = await taskOf(await asked())
    expect((await give(id, 'STAND@example.com')).status).toBe(303)
    expect((await visitor.get(`/inbox/${id}`)).status).toBe(404)
    const { text } = await (await signedIn(core, standIn.token)).get(`/inbox/${id}`)
    expect(text).toContain('value="approve"')
  })

  test('is not offered to a delegate', async () => {
    const deputy = await person(core.db, 'deputy@example.com')
    const id = await taskOf(await asked())
    const { status } = await core.call('POST', '/delegations', {
      token: boss.token,
      body: { delegate_id: deputy.id, until: new Date(Date.now() + 86_400_000).toISOString() },
    })
    expect(status).toBe(201)
    const theirs = (await (await signedIn(core, deputy.token)).get(`/inbox/${id}`)).text
    expect(theirs).toContain('value="approve"')
    expect(theirs).not.toContain(`${id}/reassign`)
    expect((await visitor.get(`/inbox/${id}`)).text).toContain(`${id}/reassign`)
  })

  test.each([
    ['nobody@example.com', 422, 'No person matches that.'],
    ['', 422, 'No person matches that.'],
    ['ada@example.com', 400, 'cannot decide on it'],
  ])(
    'is refused if “%s” cannot decide, and the page keeps the entered value',
    async (to, status, words) => {
      const id = await taskOf(await asked())
      const sent = await give(id, to)
      expect([sent.status, sent.text]).toEqual([status, expect.stringContaining(words)])
      expect(sent.text).toContain(`value="${to}"`)
      expect(sent.text).toContain('value="approve"')
    },
  )

  test('is refused in the language of the page', async () => {
    const id = await taskOf(await asked())
    const headers = { 'accept-language': 'de' }
    await visitor.get(`/inbox/${id}`)
    const sent = await visitor.post(
      `/inbox/${id}/reassign`,
      { person: 'ada@example.com' },
      { headers },
    )
    expect(sent.status).toBe(400)
    expect(sent.text).toContain('Wer angefragt hat oder den Zugang haben soll, kann nicht')
    expect(sent.text).not.toContain('cannot decide on it')
    const gone = await visitor.get('/inbox/none', { headers })
    expect(gone.text).toContain('Diese Aufgabe gibt es nicht')
    expect(gone.text).not.toContain('lang="en"')
  })
})

test('a later decision shows who approved before, and why', async () => {
  const second = await person(core.db, 'second@example.com')
  const flow = {
    require_manager_approval: true,
    approvers: { users: [{ id: second.id }], groups: [] },
  }
  const vault = await acme.inStore(await app(core.db, 'Vault'), flow)
  const requestId = await acme.asked(ada, { app_id: vault })
  const first = await taskOf(requestId)
  await visitor.get(`/inbox/${first}`)
  await visitor.post(`/inbox/${first}`, { action_type: 'approve', reason: 'Needed in <May>' })
  const reader = await signedIn(core, second.token)
  const { text } = await reader.get(`/inbox/${await taskOf(requestId)}`)
  expect(text).toContain('boss Test said yes')
  expect(text).toContain('“Needed in &lt;May&gt;”')
})

test('a manual task says what to do and what its buttons mean, and shows the reason once', async () => {
  const helper = await person(core.db, 'helper@example.com')
  const desk = await acme.inStore(await app(core.db, 'Desk', { adminUserIds: [helper.id] }))
  const requestId = await acme.asked(ada, { app_id: desk, business_justification: 'Month end' })
  await acme.settle(requestId, 'complete')
  const id = await taskOf(requestId)
  const { text } = await (await signedIn(core, helper.token)).get(`/inbox/${id}`)
  expect(text).toContain(
    'Give access in Desk, without an end, to ada Test, then press “It is done”.',
  )
  expect(text).toContain('You have done it. The task closes.')
  expect(text).toContain('It is already decided.')
  expect(text).toContain('value="confirm"')
  expect(text).not.toContain('value="retry"')
  expect(text).not.toContain('You decide.')
  const article = text.slice(text.indexOf('<article'))
  expect(article.split('Month end').length - 1).toBe(1)
})

test('a manual task is accepted and completed', async () => {
  const doer = await person(core.db, 'doer@example.com')
  const id = await task(core.db, { category: 'GENERIC', userIds: [doer.id] })
  const worker = await signedIn(core, doer.token)
  await worker.get(`/inbox/${id}`)
  expect(
    (await worker.post(`/inbox/${id}`, { action_type: 'accept' })).headers.get('location'),
  ).toBe(`/inbox/${id}`)
  const { text } = await worker.get(`/inbox/${id}`)
  expect(text).toContain('The task is yours.')
  expect(text).toContain('value="complete"')
  await worker.post(`/inbox/${id}`, { action_type: 'complete' })
  expect((await worker.get('/inbox')).text).toContain('Nothing waits for you')
})
