/** Delegates: who decides for another person, when, and on what they may not decide. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CALLER_LIMITS } from '../../../runtime/contract/limits/caller-limits.ts'
import { isActive } from '../../../runtime/core/delegation/delegations.ts'
import { standsInFor } from '../../../runtime/core/delegation/stand-in.ts'
import { lockCount } from '../../../runtime/core/kernel/count-limit.ts'
import { delegations } from '../../../runtime/database/schema/delegations.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { app, type CoreHost, domainOf, group, type Person, person, startCore } from '../host.ts'
import { countWaiting } from '../meanwhile.ts'
import { type Company, company } from '../requests/company.ts'
import { lastEvents } from '../store.ts'

describe('a delegation', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))
  test.each([
    ['before it begins', at(1), null, false],
    ['when it begins', at(2), null, true],
    ['while it lasts', at(3), null, true],
    ['when it ends', at(4), null, false],
    ['once it is revoked', at(3), at(3), false],
  ])('is active only within its time: %s', (_, now, endedAt, expected) => {
    expect(isActive({ since: at(2), until: at(4), endedAt }, now)).toBe(expected)
  })

  test.each<
    [string, string, { asked: string[]; delegators: string[]; parties: string[] }, string | null]
  >([
    [
      'from an approver who was asked',
      'del',
      { asked: ['boss'], delegators: ['boss'], parties: ['ada'] },
      'boss',
    ],
    [
      'from a person who was not asked',
      'del',
      { asked: ['boss'], delegators: ['other'], parties: ['ada'] },
      null,
    ],
    ['without a delegator', 'del', { asked: ['boss'], delegators: [], parties: ['ada'] }, null],
    ['to the requester', 'ada', { asked: ['boss'], delegators: ['boss'], parties: ['ada'] }, null],
    ['from the requester', 'del', { asked: ['ada'], delegators: ['ada'], parties: ['ada'] }, null],
    [
      'from the requester and an approver',
      'del',
      { asked: ['ada', 'boss'], delegators: ['ada', 'boss'], parties: ['ada'] },
      'boss',
    ],
  ])(
    'counts only for an approver who was asked and is not a party: %s',
    (_, caller, facts, expected) => {
      expect(standsInFor(caller, facts)).toBe(expected)
    },
  )
})

describe('a delegation in a company', () => {
  let core: CoreHost
  let acme: Company
  let appId: string
  let ada: Person
  let boss: Person
  let del: Person
  let third: Person
  const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()

  beforeAll(async () => {
    core = await startCore()
    acme = company(core)
    ada = await person(core.db, 'ada@example.com')
    boss = await person(core.db, 'boss@example.com')
    del = await person(core.db, 'del@example.com')
    third = await person(core.db, 'third@example.com')
    const people = { users: [{ id: boss.id }] }
    appId = await acme.inStore(await app(core.db, 'Warehouse'), { approvers: people })
  })
  afterAll(() => core.stop())

  const name = (who: Person, body: object) =>
    core.call('POST', '/delegations', { token: who.token, body: { until: tomorrow(), ...body } })
  const asked = () => acme.asked(ada, { app_id: appId })
  const decide = async (who: Person, request: string, verb = 'complete') =>
    (
      await core.call('POST', `/tasks/${(await acme.openTask(request)).id}/${verb}`, {
        token: who.token,
      })
    ).status
  const countOpenTasks = async (who: Person) =>
    (await core.call('GET', '/tasks?open=true', { token: who.token })).body.total

  test('lets the delegate decide for the approver, as the task and the log show', async () => {
    const request = await asked()
    expect([await countOpenTasks(del), await decide(del, request)]).toEqual([0, 404])
    const made = await name(boss, { delegate_id: del.id, reason: 'On leave' })
    expect(made.body).toMatchObject({
      active: true,
      user: { id: boss.id },
      delegate: { id: del.id },
    })
    expect(await countOpenTasks(del)).toBe(1)
    const open = (await core.call('GET', `/appstore/access_requests/${request}?expand=tasks`)).body
    expect(open.tasks[0].delegates).toMatchObject([{ id: del.id }])
    expect(await decide(del, request)).toBe(204)
    const done = (await core.call('GET', `/appstore/access_requests/${request}?expand=tasks`)).body
    expect(done.tasks[0]).toMatchObject({
      resolved_by: { id: del.id },
      resolved_for: { id: boss.id },
    })
    const events = await lastEvents(core, 10)
    expect(events).toContainEqual([
      'APP_STORE_APPROVE_ACCESS_REQUEST',
      expect.objectContaining({ on_behalf_of: boss.id }),
    ])
    expect(await countOpenTasks(del)).toBe(0)
  })

  test('does not let the delegate reassign a decision, not even to themselves', async () => {
    const { id } = (await acme.openTask(await asked())) ?? {}
    const reassign = (who: Person, to: Person) => {
      const body = { user_ids: [to.id], replace: false }
      return core.call('POST', `/tasks/${id}/reassign`, { token: who.token, body })
    }
    for (const to of [del, third]) {
      const { status, body } = await reassign(del, to)
      expect([status, body.detail]).toEqual([403, expect.stringContaining('As a delegate')])
    }
    expect((await reassign(boss, third)).status).toBe(204)
    await core.call('POST', `/tasks/${id}/dismiss`, { token: boss.token })
  })

  test('ends at once when either of the two ends it', async () => {
    const request = await asked()
    const [{ id }] = (await core.call('GET', '/delegations', { token: boss.token })).body.items
    expect((await core.call('DELETE', `/delegations/${id}`, { token: third.token })).status).toBe(
      404,
    )
    expect((await core.call('DELETE', `/delegations/${id}`, { token: del.token })).status).toBe(204)
    expect([await countOpenTasks(del), await decide(del, request)]).toEqual([0, 404])
    expect((await core.call('DELETE', `/delegations/${id}`, { token: boss.token })).status).toBe(
      409,
    )
    const { body: again } = await name(boss, { delegate_id: del.id })
    expect(await countOpenTasks(del)).toBe(1)
    const path = `/delegations/${again.id}`
    expect((await core.call('DELETE', path, { token: boss.token })).status).toBe(204)
    expect([await countOpenTasks(del), await decide(del, request)]).toEqual([0, 404])
    expect(await decide(boss, request)).toBe(204)
  })

  test('is not created again if it was created while the call waited', async () => {
    await core.db.delete(delegations)
    const body = { delegate_id: del.id, until: tomorrow() }
    const [made, other] = await core.db.transaction(async (tx) => {
      await lockCount(tx, { limit: 'delegations', owner: boss.id })
      const waiting = name(boss, body)
      await until(
        'the second delegation waits for the lock',
        async () => (await countWaiting(core.db)) === 1,
      )
      const [row] = await tx
        .insert(delegations)
        .values({
          ...{ domainId: await domainOf(core.db), userId: boss.id, delegateId: del.id },
          ...{ since: sql`clock_timestamp()`, until: new Date(body.until), createdById: boss.id },
        })
        .returning()
      return [row, waiting] as const
    })
    expect((await other).body.id).toBe(made?.id)
  })

  test('is created once if it is sent twice concurrently', async () => {
    await core.db.delete(delegations)
    const body = { delegate_id: del.id, until: tomorrow(), reason: 'On leave' }
    const since = new Date(Date.now() + 3_600_000).toISOString()
    for (const sent of [body, { ...body, since }]) {
      const made = await Promise.all([name(boss, sent), name(boss, sent)])
      expect(made.map(({ status }) => status)).toEqual([201, 201])
      expect(new Set(made.map(({ body }) => body.id)).size).toBe(1)
    }
    // Another end, or another person, makes another delegation.
    for (const other of [{ until: tomorrow() }, { delegate_id: third.id }])
      expect((await name(boss, { ...body, ...other })).status).toBe(201)
    expect(await core.db.$count(delegations)).toBe(4)
    expect((await name(boss, { ...body, reason: 'Away' })).body.detail).toContain('another reason')
    expect(await core.db.$count(delegations)).toBe(4)
    // The same holds when the limit is reached.
    const [one] = await core.db.select().from(delegations).limit(1)
    if (!one) throw new Error('the delegation was not inserted')
    const { id: _, ...rest } = one
    const filled = Array.from({ length: CALLER_LIMITS.delegations.most - 4 }, (_one, days) => ({
      ...rest,
      until: new Date(Date.now() + (days + 2) * 86_400_000),
    }))
    await core.db.insert(delegations).values(filled)
    expect((await name(boss, body)).status).toBe(201)
    expect((await name(boss, { ...body, reason: 'Away' })).body.detail).toContain('another reason')
    expect((await name(boss, { ...body, until: tomorrow() })).body.detail).toContain(
      'end one first',
    )
    await core.db.delete(delegations)
  })

  test('is not transitive: the delegate of a delegate cannot decide', async () => {
    await name(boss, { delegate_id: del.id })
    await name(del, { delegate_id: third.id })
    const request = await asked()
    expect([await countOpenTasks(del), await countOpenTasks(third)]).toEqual([1, 0])
    expect(await decide(third, request)).toBe(404)
    expect(await decide(del, request, 'dismiss')).toBe(204)
  })

  test('never lets people decide on requests by or for themselves', async () => {
    await name(boss, { delegate_id: ada.id })
    const request = await asked()
    expect([await countOpenTasks(ada), await decide(ada, request)]).toEqual([0, 404])
    const forDel = await acme.asked(del, { app_id: appId })
    expect(await decide(del, forDel)).toBe(404)
    // The requester is a member of the group of approvers, so the requester's delegate may not decide.
    const team = await group(core.db, 'Team', [boss, third])
    const other = await acme.inStore(await app(core.db, 'Other'), {
      approvers: { groups: [{ id: team }] },
    })
    const ofBoss = await acme.asked(boss, { app_id: other })
    expect(await decide(del, ofBoss)).toBe(404)
    expect(await decide(third, ofBoss)).toBe(204)
  })

  describe('the delegates on a task', () => {
    const namedOn = async (request: string) => {
      const { tasks } = await acme.read(request, '?expand=tasks')
      const named = tasks[0].delegates.map(({ id }: Person) => id)
      const path = `/tasks/${tasks[0].id}?expand=assignees`
      expect((await core.call('GET', path)).body.delegates.map(({ id }: Person) => id)).toEqual(
        named,
      )
      return named
    }
    /** An app whose approvers are the members of a group. */
    const ofGroup = async (label: string, members: Person[]) =>
      acme.inStore(await app(core.db, label), {
        approvers: { groups: [{ id: await group(core.db, label, members) }] },
      })
    beforeEach(() => core.db.delete(delegations))

    test('exclude the requester and the target', async () => {
      const emma = await person(core.db, 'emma@example.com')
      for (const one of [emma, del, ada]) await name(boss, { delegate_id: one.id })
      const body = { app_id: appId, requester_user_id: emma.id, target_user_id: ada.id }
      const made = await core.call('POST', '/appstore/access_request', { body })
      const request = made.body[0].id
      expect(await namedOn(request)).toEqual([del.id])
      expect([await decide(emma, request), await decide(ada, request)]).toEqual([404, 404])
      expect(await decide(del, request)).toBe(204)
    })

    test('include those of the members of a group', async () => {
      await name(third, { delegate_id: del.id })
      const grouped = await ofGroup('Grouped', [third])
      const request = await acme.asked(ada, { app_id: grouped })
      expect(await namedOn(request)).toEqual([del.id])
      expect(await decide(del, request)).toBe(204)
      expect(await namedOn(request)).toEqual([])
    })

    test('exclude a delegate of the requester, unless another approver has the same delegate', async () => {
      await name(third, { delegate_id: del.id })
      const grouped = await ofGroup('Both', [third, boss])
      const request = await acme.asked(third, { app_id: grouped })
      expect(await namedOn(request)).toEqual([])
      expect(await decide(del, request)).toBe(404)
      await name(boss, { delegate_id: del.id })
      expect(await namedOn(request)).toEqual([del.id])
      expect(await decide(del, request)).toBe(204)
    })
  })

  test('counts only within its time, and only while both people may act', async () => {
    await core.db.delete(delegations)
    await name(boss, { delegate_id: del.id, since: new Date(Date.now() + 3_600_000).toISOString() })
    const request = await asked()
    const named = async () => (await acme.read(request, '?expand=tasks')).tasks[0].delegates
    const setStatus = (who: Person, status: 'ACTIVE' | 'SUSPENDED') =>
      core.db.update(users).set({ status }).where(eq(users.id, who.id))
    expect(await countOpenTasks(del)).toBe(0)
    await core.db.update(delegations).set({ since: new Date(Date.now() - 1000) })
    const waiting = await countOpenTasks(del)
    expect(waiting).toBeGreaterThan(0)
    expect(await named()).toMatchObject([{ id: del.id }])
    await setStatus(boss, 'SUSPENDED')
    expect([await countOpenTasks(del), await named()]).toEqual([0, []])
    await setStatus(boss, 'ACTIVE')
    await setStatus(del, 'SUSPENDED')
    expect([await decide(del, request), await named()]).toEqual([401, []])
    await setStatus(del, 'ACTIVE')
    expect(await countOpenTasks(del)).toBe(waiting)
    await core.db.update(delegations).set({ until: new Date(Date.now() - 1) })
    expect(await countOpenTasks(del)).toBe(0)
  })

  test.each([
    ['years ago', '2001-01-01'],
    ['a minute ago', new Date(Date.now() - 60_000).toISOString()],
  ])('begins now if its start is %s, as the log shows', async (_, since) => {
    await core.db.delete(delegations)
    const before = Date.now() - 1000
    const { status, body } = await name(boss, { delegate_id: del.id, since })
    expect([status, body.active]).toEqual([201, true])
    expect(Date.parse(body.since)).toBeGreaterThan(before)
    expect(await lastEvents(core, 1)).toEqual([
      ['DELEGATION_CREATED', expect.objectContaining({ since: body.since })],
    ])
  })

  test('is only for oneself unless an admin makes it, to an active person, and for a limited time', async () => {
    const statuses = async (...bodies: object[]) => {
      const found: number[] = []
      for (const body of bodies) found.push((await name(third, body)).status)
      return found
    }
    const gone = await person(core.db, 'gone@example.com')
    await core.db.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, gone.id))
    expect(
      await statuses(
        { delegate_id: third.id },
        { delegate_id: gone.id },
        { delegate_id: 'x' },
        { delegate_id: ada.id, until: '2020-01-01' },
        { delegate_id: ada.id, until: '2999-01-01' },
        { delegate_id: ada.id, since: tomorrow(), until: tomorrow() },
        { delegate_id: ada.id, user_id: boss.id },
      ),
    ).toEqual([422, 422, 422, 422, 422, 422, 403])
    const body = { delegate_id: ada.id, user_id: third.id, until: tomorrow() }
    expect((await core.call('POST', '/delegations', { body })).status).toBe(201)
  })
})
