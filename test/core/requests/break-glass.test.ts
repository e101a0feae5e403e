/** Break-glass access: granted at once to entitled people, reported to all approvers, and always reviewed. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callerOf } from '../../../runtime/core/kernel/identity/principal.ts'
import { MAIL_CONTENTS } from '../../../runtime/core/mail/contents.ts'
import { takeBreakGlass } from '../../../runtime/core/requests/break-glass.ts'
import { glassRefusal } from '../../../runtime/core/requests/machine/break-glass.ts'
import { LISTENERS } from '../../../runtime/core/wiring/listeners.ts'
import { requestablePermissions } from '../../../runtime/database/schema/app_store.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { databaseTime } from '../../../runtime/database/transactions.ts'
import { until } from '../../e2e/until.ts'
import { type CoreHost, domainOf, group, type Person, person, startCore } from '../host.ts'
import { lastEvents, NOBODY_ID } from '../store.ts'
import { type Company, company } from './company.ts'
import { type BadSystem, startBadSystem } from './faults/bad-system.ts'

describe('the check before break-glass access is granted', () => {
  const facts = { isMember: true, isThere: true, isTaken: false, minutes: 60, maxMinutes: 60 }
  test.each([
    ['passes if every condition holds', {}, undefined],
    [
      'refuses a person outside the groups, even if the permission is gone',
      { isMember: false, isThere: false },
      'forbidden',
    ],
    ['refuses a permission that is gone', { isThere: false }, 'conflict'],
    ['refuses a second use at the same time', { isTaken: true }, 'conflict'],
    ['refuses more time than is allowed', { minutes: 61 }, 'invalid'],
  ])('%s', (_, more, expected) => {
    expect(glassRefusal({ ...facts, ...more })?.kind).toBe(expected)
  })
})

describe('break-glass access', () => {
  let system: BadSystem
  let core: CoreHost
  let acme: Company
  let appId: string
  let permission: string
  let oncall: string
  let boss: Person
  let second: Person
  let people = 0

  beforeAll(async () => {
    system = await startBadSystem()
    core = await startCore(system.env)
    await core.host.settled
    acme = company(core)
    boss = await person(core.db, 'boss@acme.example')
    second = await person(core.db, 'second@acme.example')
    const team = await group(core.db, 'Second line', [second])
    const flow = {
      approvers: { users: [{ id: boss.id }], groups: [] },
      approvers_stage_2: { users: [], groups: [{ id: team }] },
      require_additional_approval: true,
    }
    appId = await acme.connected(system.app, flow)
    permission = await acme.group(appId, 'root', 'Root')
    oncall = await group(core.db, 'On call', [])
    const body = { group_ids: [oncall], max_minutes: 60 }
    const { status } = await core.call('PUT', `/break_glass/${permission}`, { body })
    if (status !== 200) throw new Error(`marking answered ${status}`)
  })
  afterAll(async () => {
    await core.stop()
    await system.close()
  })

  /** A person on call. */
  async function engineer(roles: string[] = []): Promise<Person & { email: string }> {
    people += 1
    const email = `engineer-${people}@acme.example`
    const who = await person(core.db, email, roles)
    await core.db.execute(sql`insert into group_members (domain_id, group_id, user_id)
      values (${await domainOf(core.db)}, ${oncall}, ${who.id})`)
    return { ...who, email }
  }
  const holdsRoot = (email: string): boolean =>
    system.accountsOf(email).some(([id]) => system.held.has(`${id} root`))
  const take = (who: Person, more: object = {}, id = permission) =>
    core.call('POST', `/break_glass/${id}/take`, {
      token: who.token,
      body: { reason: 'The site is down', ...more },
    })
  async function taken(who: Person, more: object = {}): Promise<string> {
    const { status, body } = await take(who, more)
    if (status !== 201) throw new Error(JSON.stringify(body))
    await acme.reaches(body.id, 'COMPLETED')
    return body.id
  }
  const review = async (id: string) =>
    (
      await core.call('GET', `/tasks?show_all_tasks=true&access_request_id=${id}&expand=assignees`)
    ).body.items.find((one: { task_type: string }) => one.task_type === 'BREAK_GLASS_REVIEW')
  const settle = async (who: Person, id: string, action: string, reason?: string) =>
    core.call('POST', `/tasks/${(await review(id)).id}/perform-action`, {
      token: who.token,
      body: { action_type: action, ...(reason === undefined ? {} : { reason }) },
    })

  test('is granted at once for a limited time, is logged, and every approver is notified', async () => {
    const who = await engineer()
    const id = await taken(who, { minutes: 30 })
    expect(holdsRoot(who.email)).toBe(true)
    const read = await acme.read(id)
    expect(read).toMatchObject({ is_break_glass: true, expiration_in_seconds: 1800 })
    expect(read.expires_at).not.toBeNull()
    const task = await review(id)
    expect(task).toMatchObject({ status: 'PENDING', task_category: 'APPROVAL' })
    expect(task.assignees).toMatchObject([{ id: boss.id }, { name: 'Second line' }])
    const mail = { about: task.id, now: new Date() }
    for (const { id: userId } of [boss, second])
      expect(await MAIL_CONTENTS.waits(core.db, { ...mail, userId })).toMatchObject({
        text: 'todo',
        matter: { note: expect.stringContaining('The site is down') },
      })
    expect((await lastEvents(core, 12)).map(([event]) => event)).toEqual(
      expect.arrayContaining(['BREAK_GLASS_TAKEN', 'TASK_OPENED']),
    )
  })

  test('is granted to one of two concurrent calls, and again only after that access has ended', async () => {
    const who = await engineer()
    const replies = await Promise.all([take(who), take(who)])
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409])
    const id = replies.find(({ status }) => status === 201)?.body.id
    await acme.reaches(id, 'COMPLETED')
    await core.call('POST', `/appstore/access_requests/${id}/give_back`, { token: who.token })
    await acme.reachesSoon(id, 'REVERTED')
    expect((await take(who)).status).toBe(201)
  })

  describe('its review', () => {
    let who: Awaited<ReturnType<typeof engineer>>
    let id: string
    beforeEach(async () => {
      who = await engineer()
      id = await taken(who)
    })

    test('cannot be closed without a reason, nor by the person who took the access', async () => {
      const task = (await review(id)).id
      for (const verb of ['complete', 'dismiss'])
        expect((await core.call('POST', `/tasks/${task}/${verb}`)).status, verb).toBe(400)
      expect((await settle(boss, id, 'approve', ' ')).status).toBe(400)
      expect((await settle(who, id, 'approve', 'Mine')).status).toBe(404)
      const admin = await engineer(['Admin'])
      const own = await settle(admin, await taken(admin), 'approve', 'Mine')
      expect([own.status, own.body.detail]).toEqual([
        403,
        expect.stringContaining('another person'),
      ])
      expect((await review(id)).status).toBe('PENDING')
    })

    test('leaves the access in place when approved, and a single approval closes it', async () => {
      expect((await settle(second, id, 'approve', 'The pager went')).status).toBe(204)
      expect((await settle(boss, id, 'deny', 'No')).status).toBe(400)
      expect(await acme.statusOf(id)).toBe('COMPLETED')
      expect(await lastEvents(core, 4)).toContainEqual([
        'BREAK_GLASS_REVIEWED',
        expect.objectContaining({ was_right: true, reason: 'The pager went' }),
      ])
    })

    test('takes the access back when denied', async () => {
      expect((await settle(boss, id, 'deny', 'Nothing was down')).status).toBe(204)
      await acme.reachesSoon(id, 'REVERTED')
      expect(holdsRoot(who.email)).toBe(false)
    })

    test('stays open after the access has expired', async () => {
      await core.db.execute(
        sql`update access_requests set expires_at = now(), wake_at = now() where id = ${id}`,
      )
      await acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
      expect((await review(id)).status).toBe('PENDING')
      expect((await settle(boss, id, 'deny', 'Too late, but wrong')).status).toBe(204)
      expect(await acme.statusOf(id)).toBe('TIME_BASED_EXPIRED')
    })
  })

  test('is refused to strangers and suspended people, for bad minutes or reasons, and unknown permissions', async () => {
    const who = await engineer()
    const stranger = await person(core.db, 'stranger@acme.example')
    expect((await take(stranger)).status).toBe(403)
    const listed = async ({ token }: Person) =>
      (await core.call('GET', '/break_glass', { token })).body.total
    expect([await listed(stranger), await listed(who)]).toEqual([0, 1])
    for (const body of [{ minutes: 61 }, { minutes: 0 }, { minutes: 1.5 }, { reason: ' ' }])
      expect((await take(who, body)).status, JSON.stringify(body)).toBe(422)
    expect((await take(who, {}, NOBODY_ID)).status).toBe(404)
    await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, who.id))
    expect((await take(who)).status).toBe(401)
  })

  test('is taken back from an offboarded person, cannot be taken again, and is still reviewed', async () => {
    const who = await engineer()
    const id = await taken(who)
    expect(holdsRoot(who.email)).toBe(true)
    const leaving = await core.call('POST', '/lifecycle-management/user-offboardings', {
      body: { user_id: who.id },
    })
    expect(leaving.status, JSON.stringify(leaving.body)).toBe(201)
    await until('the access is revoked', () => !holdsRoot(who.email))
    expect((await take(who)).status).toBe(401)
    expect(await review(id)).toMatchObject({ status: 'PENDING' })
    const right = await settle(boss, id, 'approve', 'The site was down')
    expect(right.status, JSON.stringify(right.body)).toBe(204)
    expect((await review(id)).status).toBe('COMPLETED')
    expect(holdsRoot(who.email)).toBe(false)
  })

  test('is refused once the permission is gone, the app is disconnected, or break-glass is switched off', async () => {
    const who = await engineer()
    const gone = (goneAt: Date | null) =>
      core.db
        .update(requestablePermissions)
        .set({ goneAt })
        .where(eq(requestablePermissions.id, permission))
    await gone(new Date())
    expect((await take(who)).status).toBe(409)
    await gone(null)
    const disconnected = (disconnectedAt: Date | null) =>
      core.db.update(apps).set({ disconnectedAt }).where(eq(apps.id, appId))
    await disconnected(new Date())
    expect((await take(who)).status).toBe(409)
    await disconnected(null)
    const other = await acme.group(appId, 'other', 'Other')
    const body = { group_ids: [oncall], max_minutes: 5 }
    await core.call('PUT', `/break_glass/${other}`, { body })
    expect((await core.call('DELETE', `/break_glass/${other}`)).status).toBe(204)
    expect((await take(who, {}, other)).status).toBe(404)
    expect((await core.call('DELETE', `/break_glass/${other}`)).status).toBe(404)
    const wrong = { group_ids: [oncall, NOBODY_ID], max_minutes: 5 }
    const refused = await core.call('PUT', `/break_glass/${other}`, { body: wrong })
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'group_ids', 1]])
  })

  test('is recorded completely or not at all when the host dies', async () => {
    const who = await engineer()
    const domainId = await domainOf(core.db)
    const caller = await callerOf(core.db, { userId: who.id, domainId, readOnly: false })
    const principal = { ...caller, tokenId: '', usedLately: true }
    const dying = {
      now: databaseTime,
      listeners: LISTENERS,
      send: () => Promise.reject(new Error('killed')),
    }
    const body = { reason: 'The site is down', minutes: undefined }
    await expect(takeBreakGlass(core.db, principal, permission, body, dying)).rejects.toThrow(
      'killed',
    )
    const { rows } = await core.db.execute<{ requests: string; tasks: string }>(sql`
      select (select count(*) from access_requests where target_user_id = ${who.id}) as requests,
        (select count(*) from tasks where target_user_id = ${who.id}) as tasks`)
    expect(rows).toEqual([{ requests: '0', tasks: '0' }])
    // Any host continues a committed request: no job was sent, but the request is due.
    const made = await takeBreakGlass(core.db, principal, permission, body, {
      ...dying,
      send: async () => {},
    })
    await acme.reaches(made.id, 'COMPLETED')
  })
})
