import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskCategory } from '../../../runtime/contract/models/task.ts'
import { TASK_CATEGORIES, TASK_STATUSES } from '../../../runtime/contract/models/task.ts'
import type { Principal } from '../../../runtime/core/kernel/identity/principal.ts'
import { actionsOf, TASK_ACTIONS } from '../../../runtime/core/tasks/task-actions.ts'
import { assignedTasks, findTask } from '../../../runtime/core/tasks/tasks.ts'
import { tasks } from '../../../runtime/database/schema/tasks.ts'
import {
  type CoreHost,
  domainOf,
  group,
  otherDomain,
  type Person,
  person,
  startCore,
  task,
} from '../host.ts'
import { storedLog } from '../log.ts'

let core: CoreHost
let ada: Person
let bob: Person

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'ada@example.com')
  bob = await person(core.db, 'bob@example.com')
})
afterAll(() => core.stop())

const statusOf = async (id: string) => (await core.call('GET', `/tasks/${id}`)).body.status

describe('the table of actions', () => {
  test('has no action that leads to the status that the task already has', () => {
    for (const { from, to } of Object.values(TASK_ACTIONS))
      for (const target of to) expect(from).not.toContain(target)
  })

  test('has at most one action to complete and one to dismiss', () => {
    for (const category of TASK_CATEGORIES)
      for (const status of TASK_STATUSES)
        for (const end of ['COMPLETED', 'DISMISSED'] as const) {
          const ways = actionsOf(category, status).filter(({ to }) => to.includes(end))
          expect(ways.length).toBeLessThanOrEqual(1)
        }
  })
})

describe('GET /tasks/{id}/actions', () => {
  test('returns an array of actions', async () => {
    const id = await task(core.db, { userIds: [ada.id] })
    const { status, body } = await core.call('GET', `/tasks/${id}/actions`, { token: ada.token })
    expect(status).toBe(200)
    expect(body).toEqual([
      { action_type: 'approve', transitions: [{ transition_to: 'COMPLETED' }] },
      { action_type: 'deny', transitions: [{ transition_to: 'DISMISSED' }] },
    ])
  })

  test('returns PENDING as the status to which a dismissed task can be reopened', async () => {
    const id = await task(core.db, { category: 'GENERIC', status: 'DISMISSED', userIds: [ada.id] })
    const { body } = await core.call('GET', `/tasks/${id}/actions`, { token: ada.token })
    expect(body).toEqual([{ action_type: 'reopen', transitions: [{ transition_to: 'PENDING' }] }])
  })

  test('returns 404 to other people, for unknown ids and for other domains', async () => {
    const mine = await task(core.db, { userIds: [ada.id] })
    const foreign = await task(core.db, { domain: await otherDomain(core.db) })
    expect((await core.call('GET', `/tasks/${mine}/actions`, { token: bob.token })).status).toBe(
      404,
    )
    for (const id of [foreign, 'x', '00000000-0000-4000-8000-000000000000'])
      expect(await core.call('GET', `/tasks/${id}/actions`)).toMatchObject({
        status: 404,
        body: { detail: 'Task not found' },
      })
  })
})

describe('tasks', () => {
  test('of a person are found without reading those of others', async () => {
    const eve = await person(core.db, 'eve@example.com')
    const mine = await task(core.db, { userIds: [eve.id] })
    const domain = await domainOf(core.db)
    await core.db.execute(sql`
      with made as (insert into tasks (domain_id, task_type, task_category, status, description)
        select ${domain}, 'T', 'GENERIC', 'PENDING', 'one of many' from generate_series(1, 20000)
        returning id)
      insert into task_assignees (domain_id, task_id, user_id)
      select ${domain}, id, ${bob.id} from made`)
    const caller: Principal = {
      ...{ userId: eve.id, domainId: domain, permissions: new Set(), roles: [] },
      ...{ readOnly: false, tokenId: '', usedLately: true },
    }
    await core.db.transaction(async (tx) => {
      const read = async () => {
        const { rows } = await tx.execute<{ n: string }>(sql`
          select sum(seq_tup_read + idx_tup_fetch) as n from pg_stat_xact_user_tables
          where relname in ('tasks', 'task_assignees')`)
        return Number(rows[0]?.n)
      }
      const before = await read()
      expect(await findTask(tx, caller, mine)).toMatchObject({ id: mine, isOwn: true })
      const list = tx.select({ id: tasks.id }).from(tasks)
      expect(await list.where(await assignedTasks(tx, eve.id))).toEqual([{ id: mine }])
      expect((await read()) - before).toBeLessThan(100)
    })
    await core.db.execute(sql`delete from tasks where description = 'one of many'`)
  })

  test('are those assigned to the caller, directly or through a group; admins can list all', async () => {
    const carol = await person(core.db, 'carol@example.com')
    const team = await group(core.db, 'Team', [carol])
    const direct = await task(core.db, { userIds: [carol.id], type: 'DIRECT' })
    const through = await task(core.db, { groupIds: [team], type: 'THROUGH' })
    const list = async (query: string, token?: string) =>
      (
        await core.call('GET', `/tasks?${query}`, token === undefined ? {} : { token })
      ).body.items.map(({ id }: { id: string }) => id)
    expect((await list('', carol.token)).sort()).toEqual([direct, through].sort())
    expect(await list('task_type=DIRECT', carol.token)).toEqual([direct])
    expect(await list('sort_by=taskType&sort_direction=ASC', carol.token)).toEqual([
      direct,
      through,
    ])
    expect(await list(`show_all_tasks=true&assigned_group_ids=${team}`)).toEqual([through])
    expect(await list('show_all_tasks=true&assigned_identity_ids=nobody')).toEqual([])
    expect((await core.call('GET', '/tasks?show_all_tasks=1', { token: carol.token })).status).toBe(
      403,
    )
  })

  test('contain the members requested with expand, and null otherwise', async () => {
    const id = await task(core.db, { userIds: [ada.id] })
    await core.call('POST', `/tasks/${id}/comments`, {
      token: ada.token,
      body: { comment: 'hello' },
    })
    const plain = (await core.call('GET', `/tasks/${id}`)).body
    expect(plain).toMatchObject({
      actions: null,
      assignees: null,
      comments: null,
      task_category: 'APPROVAL',
    })
    const { body } = await core.call(
      'GET',
      `/tasks/${id}?expand=actions&expand=assignees&expand=comments`,
    )
    expect(body.actions).toHaveLength(2)
    expect(body.assignees).toEqual([
      { id: ada.id, type: 'USER', name: 'ada Test', email: 'ada@example.com' },
    ])
    expect(body.comments).toMatchObject([{ body: 'hello', created_by: { id: ada.id } }])
  })
})

test.each(['constructor', '__proto__', 'nothing', ''])(
  'an unknown sort order such as "%s" is ignored',
  async (name) => {
    expect((await core.call('GET', `/tasks?show_all_tasks=true&sort_by=${name}`)).status).toBe(200)
  },
)

describe('an action', () => {
  test('changes the status, sets who resolved the task, and is logged', async () => {
    const id = await task(core.db, { userIds: [ada.id] })
    const done = await core.call('POST', `/tasks/${id}/perform-action`, {
      token: ada.token,
      body: { action_type: 'approve' },
    })
    expect({ status: done.status, body: done.body }).toEqual({ status: 204, body: null })
    expect((await core.call('GET', `/tasks/${id}`)).body).toMatchObject({
      status: 'COMPLETED',
      resolved_by: { id: ada.id },
    })
    const logs = (await storedLog(core.db)).filter(
      ({ eventType }) => eventType === 'TASK_ACTION_PERFORMED',
    )
    expect(logs.some(({ targets }) => targets.some((target) => target['id'] === id))).toBe(true)
  })

  test.each([
    ['of an unknown type', { action_type: 'explode' }, 400],
    ['of another category', { action_type: 'confirm' }, 400],
    [
      'with a transition that it does not offer',
      { action_type: 'approve', transition_to: 'EXPIRED' },
      400,
    ],
    [
      'with a transition to the current state',
      { action_type: 'approve', transition_to: 'PENDING' },
      409,
    ],
    ['without a type', {}, 422],
    ['with a number as its type', { action_type: 1 }, 422],
  ])('%s changes nothing', async (_name, body, status) => {
    const id = await task(core.db, { userIds: [ada.id] })
    expect(
      (await core.call('POST', `/tasks/${id}/perform-action`, { token: ada.token, body })).status,
    ).toBe(status)
    expect(await statusOf(id)).toBe('PENDING')
  })

  test.each([
    ['approve', 'complete', 'deny'],
    ['deny', 'dismiss', 'approve'],
  ])(
    '%s is a conflict when repeated, and the other decision is no longer offered',
    async (name, verb, other) => {
      const id = await task(core.db, { userIds: [ada.id] })
      const perform = async (action_type: string) => {
        const body = { action_type }
        const path = `/tasks/${id}/perform-action`
        const { status, body: answer } = await core.call('POST', path, { token: ada.token, body })
        return [status, answer.detail]
      }
      await core.call('POST', `/tasks/${id}/${verb}`, { token: ada.token })
      const ended = `The task is already ${await statusOf(id)}`
      expect([await perform(name), await perform(other)]).toEqual([
        [409, ended],
        [400, `${ended} and offers no more actions`],
      ])
    },
  )

  test('sent twenty times at once is performed once', async () => {
    const id = await task(core.db, { userIds: [ada.id] })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        core.call('POST', `/tasks/${id}/complete`, { token: ada.token }),
      ),
    )
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
  })

  test('complete leads to COMPLETED, and dismiss to DISMISSED', async () => {
    const yes = await task(core.db, { userIds: [ada.id] })
    const no = await task(core.db, { category: 'PROVISIONING', userIds: [ada.id] })
    expect((await core.call('POST', `/tasks/${yes}/complete`, { token: ada.token })).status).toBe(
      204,
    )
    expect((await core.call('POST', `/tasks/${no}/dismiss`, { token: ada.token })).status).toBe(204)
    expect([await statusOf(yes), await statusOf(no)]).toEqual(['COMPLETED', 'DISMISSED'])
  })
})

test('a person with read-only access to a task cannot comment on it, and nothing is logged', async () => {
  const id = await task(core.db, { userIds: [ada.id] })
  const reader = await person(core.db, 'only-reads@example.com', ['Read Only Admin'])
  const { total } = (await core.call('GET', '/activity_logs?limit=1')).body
  const body = { comment: 'I was here' }
  expect((await core.call('GET', `/tasks/${id}`, { token: reader.token })).status).toBe(200)
  const answer = await core.call('POST', `/tasks/${id}/comments`, { token: reader.token, body })
  expect(answer.status).toBe(403)
  expect((await core.call('GET', `/tasks/${id}?expand=comments`)).body.comments).toEqual([])
  expect((await core.call('GET', '/activity_logs?limit=1')).body.total).toBe(total)
})

test('a comment is stored in the activity log without its text', async () => {
  const id = await task(core.db, { userIds: [ada.id] })
  const body = { comment: 'between us' }
  const path = `/tasks/${id}/comments`
  expect((await core.call('POST', path, { token: ada.token, body })).status).toBe(201)
  const rows = (await storedLog(core.db)).filter(({ eventType }) => eventType === 'TASK_COMMENTED')
  const [row] = rows.filter(({ targets }) => targets[0]?.['id'] === id)
  expect(row).toMatchObject({ outcome: 'Succeeded', actor: { email: 'ada@example.com' } })
  expect(JSON.stringify(row?.metadata)).not.toContain('between us')
})

test('a comment that cannot be logged is not stored', async () => {
  const id = await task(core.db, { userIds: [ada.id] })
  const log =
    "create function refuse() returns trigger as $$ begin raise 'full'; end $$ language plpgsql"
  const client = new Client(await core.login())
  await client.connect()
  await client.query(log)
  await client.query(
    'create trigger refuse before insert on activity_waiting for each row execute function refuse()',
  )
  const refused = await core.host.app.request(`/tasks/${id}/comments`, {
    method: 'POST',
    headers: {
      host: 'localhost',
      authorization: `Bearer ${ada.token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ comment: 'lost' }),
  })
  expect(refused.status).toBe(500)
  await client.query('drop trigger refuse on activity_waiting')
  await client.query('drop function refuse')
  await client.end()
  expect((await core.call('GET', `/tasks/${id}?expand=comments`)).body.comments).toEqual([])
})

describe('a body', () => {
  const post = async (body: Parameters<CoreHost['call']>[2]) =>
    core.call('POST', `/tasks/${await task(core.db, { userIds: [ada.id] })}/comments`, {
      token: ada.token,
      ...body,
    })

  test.each([
    ['that is absent', {}, { loc: ['body'], msg: 'Field required', type: 'missing' }],
    [
      'without the field',
      { body: {} },
      { loc: ['body', 'comment'], msg: 'Field required', type: 'missing' },
    ],
    [
      'with an empty text',
      { body: { comment: '' } },
      {
        loc: ['body', 'comment'],
        msg: 'String should have at least 1 character',
        type: 'string_too_short',
      },
    ],
    [
      'with a text that is too long',
      { body: { comment: 'x'.repeat(4001) } },
      {
        loc: ['body', 'comment'],
        msg: 'String should have at most 4000 characters',
        type: 'string_too_long',
      },
    ],
    [
      'that is a list',
      { body: [] },
      {
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        type: 'model_attributes_type',
      },
    ],
    [
      'of another media type',
      { raw: '{"comment":"x"}', headers: { 'content-type': 'text/plain' } },
      {
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        type: 'model_attributes_type',
      },
    ],
    [
      'with NUL',
      { body: { comment: 'a\u0000b' } },
      { loc: ['body', 'comment'], type: 'value_error' },
    ],
  ])('%s returns a 422 with the reason', async (_name, options, entry) => {
    const { status, body } = await post(options)
    expect(status).toBe(422)
    expect(body.detail).toHaveLength(1)
    expect(body.detail[0]).toMatchObject(entry)
  })

  test('that is not JSON returns a 422 with the position', async () => {
    const { status, body } = await post({ raw: '{"comment": nope}' })
    expect(status).toBe(422)
    expect(body.detail[0]).toMatchObject({
      loc: ['body', expect.any(Number)],
      type: 'json_invalid',
      msg: 'JSON decode error',
    })
  })
})

describe('reassigning', () => {
  test('adds or replaces the assignees of an approval', async () => {
    const id = await task(core.db, { userIds: [ada.id] })
    const assignees = async () =>
      (await core.call('GET', `/tasks/${id}?expand=assignees`)).body.assignees.map(
        (one: { id: string }) => one.id,
      )
    expect(
      (
        await core.call('POST', `/tasks/${id}/reassign`, {
          token: ada.token,
          body: { user_ids: [bob.id], replace: false },
        })
      ).status,
    ).toBe(204)
    expect((await assignees()).sort()).toEqual([ada.id, bob.id].sort())
    expect(
      (
        await core.call('POST', `/tasks/${id}/reassign`, {
          token: ada.token,
          body: { user_ids: [bob.id] },
        })
      ).status,
    ).toBe(204)
    expect(await assignees()).toEqual([bob.id])
    expect((await core.call('GET', `/tasks/${id}`, { token: ada.token })).status).toBe(404)
  })

  test.each<[string, TaskCategory, object, number]>([
    ['without new assignees', 'APPROVAL', {}, 400],
    ['to an unknown user', 'APPROVAL', { user_ids: ['x'] }, 404],
    [
      'to an unknown group',
      'APPROVAL',
      { group_ids: ['00000000-0000-4000-8000-000000000000'] },
      404,
    ],
    ['to more users than a list may have', 'APPROVAL', { user_ids: Array(501).fill('x') }, 422],
    ['of a provisioning task', 'PROVISIONING', { user_ids: [] }, 400],
  ])('%s is refused and changes nothing', async (_name, category, body, status) => {
    const id = await task(core.db, { category, userIds: [ada.id] })
    expect(
      (await core.call('POST', `/tasks/${id}/reassign`, { token: ada.token, body })).status,
    ).toBe(status)
    expect((await core.call('GET', `/tasks/${id}?expand=assignees`)).body.assignees).toHaveLength(1)
  })

  test('a decided task is a conflict, and changes nothing', async () => {
    const id = await task(core.db, { userIds: [ada.id] })
    await core.call('POST', `/tasks/${id}/complete`, { token: ada.token })
    const body = { user_ids: [bob.id] }
    expect((await core.call('POST', `/tasks/${id}/reassign`, { body })).status).toBe(409)
    const { assignees } = (await core.call('GET', `/tasks/${id}?expand=assignees`)).body
    expect(assignees).toMatchObject([{ id: ada.id }])
  })

  test('to an assignee that is named twice, also in capital letters, assigns it once', async () => {
    const team = await group(core.db, 'team', [])
    const id = await task(core.db, { userIds: [ada.id] })
    const body = {
      user_ids: [bob.id, bob.id.toUpperCase()],
      group_ids: [team.toUpperCase(), team],
    }
    const reply = await core.call('POST', `/tasks/${id}/reassign`, { token: ada.token, body })
    expect(reply.status).toBe(204)
    const { body: seen } = await core.call('GET', `/tasks/${id}?expand=assignees`)
    expect(seen.assignees.map((one: { id: string }) => one.id).sort()).toEqual(
      [bob.id, team].sort(),
    )
  })
})

test('the activity log lists a comment without its text', async () => {
  const id = await task(core.db, { userIds: [ada.id] })
  await core.call('POST', `/tasks/${id}/comments`, {
    token: ada.token,
    body: { comment: 'between us' },
  })
  const { links } = (await core.call('GET', '/activity_logs?limit=1')).body
  const [entry] = (await core.call('GET', links.last)).body.items
  expect(entry).toMatchObject({ event_type: 'TASK_COMMENTED', targets: [{ id }] })
  expect(JSON.stringify(entry)).not.toContain('between us')
})
