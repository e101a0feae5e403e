/** Requests that webhooks of the operator validate, approve, provision and deprovision. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { REQUEST_JOB } from '../../../runtime/core/requests/job.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { eventually } from '../../kit/eventually.ts'
import { app, type CoreHost, type Person, person } from '../host.ts'
import { storedLog } from '../log.ts'
import { lookAtStatements } from '../statements.ts'
import { answering, type Receiver } from '../webhooks/receiver.ts'
import type { Company } from './company.ts'
import { type Hooked, startHooked } from './hooked.ts'

let hooked: Hooked
let receiver: Receiver
let core: CoreHost
let acme: Company
let ada: Person

beforeAll(async () => {
  hooked = await startHooked()
  ;({ receiver, core, acme } = hooked)
  ada = await person(core.db, 'ada@acme.example')
})
afterAll(() => hooked.stop())
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer(answering(200, '{}'))
})

const hook = (hook_type: string) => hooked.hook(hook_type)

const lastCall = () => JSON.parse(receiver.received.at(-1)?.text ?? '{}')

describe('a validation webhook', () => {
  const validated = async (name: string) =>
    acme.inStore(await app(core.db, name), {
      request_validation_inline_webhook: await hook('REQUEST_VALIDATION'),
    })

  it('denies a request with its reason, which stays out of the log', async () => {
    receiver.answer(answering(200, '{"response":{"valid":false,"reason":"not in this quarter"}}'))
    const id = await acme.asked(ada, { app_id: await validated('Refused'), note: 'please' })
    await acme.reaches(id, 'DENIED')
    expect((await acme.read(id)).notes.DENIED).toBe('not in this quarter')
    expect(lastCall()).toMatchObject({
      event: 'REQUEST_VALIDATION',
      application: { user_friendly_label: 'Refused' },
      permissions: [],
      access_request_id: id,
      target: { email: 'ada@acme.example' },
      business_justification: 'please',
    })
    const entries = (await storedLog(core.db)).filter(({ targets }) => targets[0]?.['id'] === id)
    expect(entries.at(-1)).toMatchObject({
      eventType: 'APP_STORE_DENY_ACCESS_REQUEST',
      actor: { actor_type: 'Lumos system' },
      metadata: { status: 'DENIED', because: 'a validation webhook' },
    })
    const texts = entries.map(({ metadata }) => JSON.stringify(metadata))
    expect(texts.join()).not.toContain('not in this quarter')
  })

  it('that approves does not help a person who was suspended during the call: the request is denied', async () => {
    const who = await person(core.db, 'meanwhile@acme.example')
    const appId = await validated('Suspended meanwhile')
    const rule = {
      preapproved_users_by_attribute: [{ attribute: 'email', value: 'meanwhile@acme.example' }],
    }
    const body = { app_id: appId, justification: 'as agreed', ...rule }
    await core.call('POST', '/appstore/pre_approval_rules', { body })
    const suspended = core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, who.id))
    const yes = answering(200, '{"response":{"valid":true}}')
    receiver.answer((reply) => void suspended.then(() => yes(reply)))
    const id = await acme.asked(who, { app_id: appId })
    await acme.reaches(id, 'DENIED')
    expect((await acme.read(id)).notes.DENIED).toBe('The person to receive the access is SUSPENDED')
  })

  it('leaves the decision to people when the request is valid', async () => {
    receiver.answer(answering(200, '{"output":{"valid":true}}'))
    await acme.reaches(
      await acme.asked(ada, { app_id: await validated('Fine') }),
      'PENDING_APPROVAL',
    )
  })

  it.each([
    ['fails', answering(500)],
    ['answers with invalid JSON', answering(200, '<html>')],
    ['answers with text instead of a boolean', answering(200, '{"response":{"valid":"false"}}')],
    ['answers with a redirect', answering(302)],
  ])('that %s leaves the decision to people, despite a pre-approval rule', async (name, answer) => {
    receiver.answer(answer)
    const appId = await validated(`Odd ${name}`)
    await core.call('POST', '/appstore/pre_approval_rules', {
      body: {
        app_id: appId,
        justification: 'everybody named Ada',
        preapproved_users_by_attribute: [{ attribute: 'identity.given_name', value: 'ada' }],
      },
    })
    const id = await acme.asked(ada, { app_id: appId })
    await acme.reaches(id, 'PENDING_APPROVAL')
    expect((await acme.read(id)).notes.PENDING_APPROVAL).toMatch(
      /VALIDATION hook|neither true nor false/,
    )
    const path = `/appstore/access_requests/${id}`
    const { notes } = (await core.call('GET', path, { token: ada.token })).body
    expect(notes.PENDING_APPROVAL).toMatch(/^It could not be checked automatically.*Ask an admin: /)
    expect(notes.PENDING_APPROVAL).not.toContain('hook')
    const log = await core.call('GET', '/activity_logs?limit=100')
    expect(JSON.stringify(log.body)).not.toContain('answered')
  })
})

describe('a pre-approval rule', () => {
  async function appWithRule(name: string, rule: object): Promise<string> {
    const appId = await acme.inStore(await app(core.db, name))
    const body = { app_id: appId, justification: 'as agreed', ...rule }
    const { status } = await core.call('POST', '/appstore/pre_approval_rules', { body })
    expect(status).toBe(201)
    return appId
  }
  const mine = {
    preapproved_users_by_attribute: [{ attribute: 'email', value: 'ada@acme.example' }],
  }

  it('approves requests of the people that it names, with its justification', async () => {
    const id = await acme.asked(ada, { app_id: await appWithRule('Mine', mine) })
    const { status, notes } = await acme.read(id)
    expect([status, notes.APPROVED]).toEqual(['PENDING_MANUAL_PROVISIONING', 'as agreed'])
  })

  it.each([
    ['no users', {}],
    [
      'other users',
      { preapproved_users_by_attribute: [{ attribute: 'email', value: 'bob@x.example' }] },
    ],
    ['shorter access only', { ...mine, time_based_access: ['2 hours'] }],
  ])('for %s leaves the decision to people', async (name, rule) => {
    const id = await acme.asked(ada, { app_id: await appWithRule(name, rule) })
    expect(await acme.statusOf(id)).toBe('PENDING_APPROVAL')
  })

  it('with webhooks approves only if all of them approve', async () => {
    const hooks = [await hook('PRE_APPROVAL'), await hook('PRE_APPROVAL')]
    const rule = { ...mine, preapproval_webhooks: hooks }
    receiver.answer(answering(200, '{"response":{"approved":true}}'))
    const yes = await acme.asked(ada, { app_id: await appWithRule('Yes', rule) })
    await acme.reaches(yes, 'PENDING_MANUAL_PROVISIONING')
    expect(receiver.received).toHaveLength(2)
    for (const refusingHook of [0, 1]) {
      receiver.received.length = 0
      receiver.answer((reply) => {
        const approved = receiver.received.length - 1 !== refusingHook
        answering(200, JSON.stringify({ response: approved ? { approved } : {} }))(reply)
      })
      await acme.reaches(
        await acme.asked(ada, { app_id: await appWithRule(`No ${refusingHook}`, rule) }),
        'PENDING_APPROVAL',
      )
    }
  })
})

describe('a provisioning webhook', () => {
  const provisioned = async (name: string, removal = true) =>
    acme.inStore(
      await app(core.db, name),
      {},
      {
        provisioning_webhook: await hook('PROVISION'),
        ...(removal ? { access_removal_inline_webhook: await hook('DEPROVISION') } : {}),
      },
    )

  it('grants the access, and a removal webhook revokes it when it expires', async () => {
    receiver.answer(answering(204))
    const id = await acme.asked(ada, {
      app_id: await provisioned('Timed'),
      expiration_in_seconds: 1,
    })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'TIME_BASED_EXPIRED')
    const events = receiver.received.map(({ text }) => JSON.parse(text).event)
    expect(events).toEqual(['PROVISION', 'DEPROVISION'])
  })

  it('is not called for a request that is cancelled just before', async () => {
    receiver.answer(answering(204))
    const id = await acme.asked(ada, { app_id: await provisioned('Withdrawn') })
    const withdrawn = vi.fn(() =>
      core.call('DELETE', `/appstore/access_requests/${id}`, { token: ada.token }),
    )
    const query = lookAtStatements((text) => {
      const isNote = /^update "access_requests" set (?=.*"attempts" = ).*"was_there" = /.test(text)
      return isNote && withdrawn.mock.calls.length === 0 ? withdrawn() : undefined
    })
    try {
      await acme.settle(id, 'complete')
      await acme.reaches(id, 'CANCELLED')
      const row = core.db.select().from(accessRequests).where(eq(accessRequests.id, id))
      await eventually(async () => expect(await row).toMatchObject([{ pendingOperation: null }]))
    } finally {
      query.mockRestore()
    }
    expect(withdrawn).toHaveBeenCalledTimes(1)
    expect(await withdrawn.mock.results[0]?.value).toMatchObject({ status: 204 })
    expect(receiver.received).toEqual([])
    expect(await acme.openTask(id)).toBeUndefined()
  })

  it('that fails is called once and leads to a manual task that says why', async () => {
    receiver.answer(answering(500))
    const id = await acme.asked(ada, { app_id: await provisioned('Failing') })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    expect(receiver.received).toHaveLength(1)
    const task = await acme.openTask(id)
    expect(task.task_category).toBe('PROVISIONING')
    expect(task.instructions).toContain('answered 500')
  })

  it('that fails is shown to requesters without its name and answer, but with an admin to ask', async () => {
    const boss = await person(core.db, 'boss@acme.example', ['App Admin'])
    receiver.answer(answering(500, 'dc7.internal says no'))
    const appId = await provisioned('Discreet')
    await core.db
      .update(apps)
      .set({ adminUserIds: [boss.id] })
      .where(eq(apps.id, appId))
    const id = await acme.asked(ada, { app_id: appId })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    const as = async (token?: string) => {
      const path = `/appstore/access_requests/${id}?expand=tasks`
      return (await core.call('GET', path, token ? { token } : {})).body
    }
    const seen = await as(ada.token)
    expect(seen.notes.PENDING_MANUAL_PROVISIONING).toBe(
      'It could not be granted automatically; a person was asked to do it by hand. Ask an admin: boss@acme.example.',
    )
    const work = ({ task_category }: { task_category: string }) => task_category === 'PROVISIONING'
    expect(seen.tasks.find(work).instructions).toBeNull()
    expect(JSON.stringify(seen)).not.toMatch(/PROVISION hook|answered 500|internal/)
    const listed = await core.call('GET', '/appstore/access_requests', { token: ada.token })
    expect(JSON.stringify(listed.body)).not.toMatch(/PROVISION hook|answered 500/)
    for (const details of [await as(), await as(boss.token)]) {
      expect(details.notes.PENDING_MANUAL_PROVISIONING).toContain('answered 500')
      expect(details.tasks.find(work).instructions).toContain('answered 500')
    }
  })

  it('without a removal webhook leaves the removal to a person', async () => {
    receiver.answer(answering(204))
    const id = await acme.asked(ada, {
      app_id: await provisioned('Kept', false),
      expiration_in_seconds: 1,
    })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
    await acme.settle(id, 'complete')
    expect(await acme.statusOf(id)).toBe('TIME_BASED_EXPIRED')
  })
})

describe('manual work', () => {
  it('denies the request when provisioning is declined, and keeps the access when removal is declined', async () => {
    const appId = await acme.inStore(
      await app(core.db, 'By hand'),
      {},
      {
        custom_provisioning_instructions: 'Ask the landlord.',
      },
    )
    const declined = await acme.asked(ada, { app_id: appId })
    await acme.settle(declined, 'complete')
    expect((await acme.openTask(declined)).instructions).toBe('Ask the landlord.')
    await acme.settle(declined, 'dismiss')
    expect(await acme.statusOf(declined)).toBe('DENIED_PROVISIONING')
    const left = await acme.asked(ada, { app_id: appId, expiration_in_seconds: 1 })
    await acme.settle(left, 'complete')
    await acme.settle(left, 'complete')
    await acme.reaches(left, 'PENDING_MANUAL_DEPROVISIONING')
    await acme.settle(left, 'dismiss')
    expect(await acme.statusOf(left)).toBe('TIME_BASED_EXPIRED_CANCELLED')
  })
})

describe('the number of statements for a request', () => {
  /** Statements by their origin: a job, or a call by this test. */
  const asked = new AsyncLocalStorage<string[]>()

  it('stays within its limits from the request to the grant', async () => {
    const statements: string[] = []
    const query = lookAtStatements((text) => {
      statements.push(text)
      // The setup of a new connection does not count.
      if (!text.includes('set_config')) asked.getStore()?.push(text)
    })
    const { handle } = REQUEST_JOB
    const jobs: string[][] = []
    REQUEST_JOB.handle = (...args) => {
      const mine: string[] = []
      jobs.push(mine)
      return asked.run(mine, () => handle(...args))
    }
    const count = async <T>(work: () => Promise<T>) => {
      const mine: string[] = []
      return { answer: await asked.run(mine, work), mine }
    }
    try {
      const LIVES = 5
      const appId = await acme.inStore(
        await app(core.db, 'Counted'),
        {},
        {
          provisioning_webhook: await hook('PROVISION'),
        },
      )
      statements.length = 0
      for (let n = 0; n < LIVES; n += 1) {
        const who = await person(core.db, `counted-${n}@acme.example`)
        const body = { app_id: appId, expiration_in_seconds: 3600 }
        const made = await count(() =>
          core.call('POST', '/appstore/access_request', { token: who.token, body }),
        )
        const { id } = made.answer.body[0]
        const path = `/tasks?access_request_id=${id}&status=PENDING&show_all_tasks=true`
        const { items } = (await core.call('GET', path)).body
        jobs.length = 0
        const done = await count(() => core.call('POST', `/tasks/${items[0].id}/complete`))
        expect(done.answer.status).toBe(204)
        await acme.reaches(id, 'COMPLETED')
        // The use of a token is recorded once a minute.
        const notes = (one: string[]) => one.filter((text) => !text.includes('"last_used_at" ='))
        expect(notes(made.mine).length, made.mine.join('\n')).toBeLessThanOrEqual(14)
        expect(notes(done.mine).length, done.mine.join('\n')).toBeLessThanOrEqual(10)
        const [work = []] = jobs
        expect(work).not.toEqual([])
        // One of them records the reason in the history.
        expect(work.length, work.join('\n')).toBeLessThanOrEqual(21)
        // The log is written in the same message as the commit.
        const writes = [...made.mine, ...done.mine, ...work].filter((text) =>
          text.includes('insert into activity_waiting'),
        )
        expect(writes).not.toEqual([])
        for (const text of writes) expect(text).toMatch(/; commit$/)
        expect(made.mine.filter((text) => text.startsWith('begin'))).toHaveLength(1)
        expect(done.mine.filter((text) => text.startsWith('begin'))).toHaveLength(1)
      }
      // Eight workers wait for such a job; they must not all poll for it.
      const looks = statements.filter((text) => /WITH\s+next AS.*'access-requests'/s.test(text))
      expect(looks.length).toBeLessThan(7 * LIVES)
    } finally {
      query.mockRestore()
      REQUEST_JOB.handle = handle
    }
  })
})
