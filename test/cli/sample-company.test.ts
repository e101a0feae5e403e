/** The sample company: created once, all or nothing, and never next to existing people. */
import { sql } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { ensureSampleCompany } from '../../runtime/cli/sample-company.ts'
import { COMPANY_SIZE } from '../../runtime/sample/company.ts'
import { PEOPLE_COUNT, people } from '../../runtime/sample/people.ts'
import { SAMPLE_TOKEN } from '../../runtime/sample/tenants.ts'
import { type Directory, startDirectory } from '../core/directory.ts'
import { type CoreHost, person, startCore } from '../core/host.ts'
import { until } from '../e2e/until.ts'

let directory: Directory
let core: CoreHost

afterEach(async () => {
  await core.stop()
  await directory.close()
})

async function start(): Promise<void> {
  directory = await startDirectory()
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}` }, { server: 'own' })
  await core.host.settled
}

const ensure = (signal = new AbortController().signal, onAway?: (error: Error) => void) =>
  ensureSampleCompany(core.host, {
    baseUrl: directory.app.settings.base_url,
    signal,
    ...(onAway ? { onAway } : {}),
  })

type Asked = { id: string; status: string; requestable_permissions: { label: string }[] }

const items = async (path: string) => (await core.call('GET', path)).body.items
const total = async (path: string): Promise<number> => (await core.call('GET', path)).body.total

/** Waits until background work is done. */
const untilIdle = () =>
  until('no background work is pending', async () => {
    const { rows } = await core.db.execute(sql`
        select 1 from sync_runs where state = 'RUNNING'
        union all select 1 from access_policies where swept_to is not null
        union all select 1 from policy_wants
        union all select 1 from access_review_apps where status in ('IN_PREPARATION', 'ASSIGNING_REVIEWERS')
        union all select 1 from access_requests where todo is not null
        union all select 1 from activity_waiting`)
    return rows.length === 0
  })

/** What the first start of a host logs: the first admin's role, and the operator's token. */
const STARTED = 2

const LISTS = ['/users', '/groups', '/apps', '/tasks?show_all_tasks=true', '/activity_logs']
const counts = () => Promise.all(LISTS.map(total))

test('a host without the sample company has only its first admin', async () => {
  await start()
  expect(await counts()).toEqual([1, 0, 0, 0, STARTED])
})

test('the sample company has people with managers, groups and roles, apps in the store, and open tasks', async () => {
  await start()
  expect(await ensure()).toBe('made')
  expect(await total('/users')).toBe(COMPANY_SIZE + 1)
  const { rows } = await core.db.execute(sql`
    select count(*) filter (where manager_id is not null)::int as managed,
      (select count(*)::int from group_members) as members,
      (select array_agg(distinct role order by role) from user_roles) as roles from users`)
  expect(rows[0]).toMatchObject({ managed: COMPANY_SIZE - 8 })
  expect(rows[0]?.['members']).toBeGreaterThan(COMPANY_SIZE)
  expect(rows[0]?.['roles']).toEqual(
    expect.arrayContaining(['App Admin', 'Auditor', 'Read Only Admin']),
  )
  const [warehouse, design] = await items('/appstore/apps')
  expect(design).toMatchObject({
    app_class_id: 'scim',
    instance_id: `${directory.host}/design/scim`,
  })
  expect(warehouse.instance_id).toBe(`${directory.host}/warehouse/scim`)
  const settings = (await core.call('GET', `/appstore/apps/${warehouse.id}/settings`)).body
  expect(settings.request_flow.admins.groups).toMatchObject([{ name: 'On Call' }])
  expect(settings.provisioning.time_based_access).toEqual([
    '8 hours',
    '1 day',
    '14 days',
    '30 days',
  ])
  const listed: { type: string; label: string }[] = await items(
    `/appstore/requestable_permissions?app_id=${design.id}&in_app_store=true`,
  )
  expect(listed.map(({ label }) => label)).toEqual(['Editor', 'Office Move 2027', 'Viewer'])
  expect(await items(`/appstore/pre_approval_rules?app_id=${design.id}`)).toHaveLength(1)
  const tasks = await items('/tasks?show_all_tasks=true&expand=assignees')
  const kinds = tasks.flatMap((one: { assignees: { type: string }[] }) => one.assignees)
  expect(new Set(kinds.map((one: { type: string }) => one.type))).toEqual(
    new Set(['USER', 'GROUP']),
  )
  // Each task belongs to one of these requests.
  const waiting = ['PENDING_APPROVAL', 'PENDING_MANAGER_APPROVAL', 'PENDING_MANUAL_PROVISIONING']
  const query = waiting.map((one) => `statuses=${one}`).join('&')
  // Read before the requests: the policy may add requests once a sync has found its group; these are
  // filtered out below.
  const tasksNow = await items('/tasks?show_all_tasks=true&status=PENDING')
  const all: Asked[] = await items(`/appstore/access_requests?${query}`)
  const isByPolicy = ({ requestable_permissions: asked }: Asked) =>
    asked.some(({ label }) => label === 'On Call')
  const requests = all.filter((one) => !isByPolicy(one))
  expect(requests.map(({ status }) => status).toSorted()).toEqual([
    ...['PENDING_APPROVAL', 'PENDING_APPROVAL', 'PENDING_APPROVAL'],
    ...['PENDING_MANAGER_APPROVAL', 'PENDING_MANUAL_PROVISIONING'],
  ])
  const ids = requests.map(({ id }) => id)
  const byPolicy = all.filter(isByPolicy).map(({ id }) => id)
  const open = tasksNow.filter(
    (one: { product_area: string; access_request_id: string }) =>
      one.product_area === 'APPSTORE' && !byPolicy.includes(one.access_request_id),
  )
  expect(open.map((one: { task_type: string }) => one.task_type).toSorted()).toEqual([
    ...['ACCESS_REQUEST_APPROVAL', 'ACCESS_REQUEST_APPROVAL', 'ACCESS_REQUEST_APPROVAL'],
    ...['MANAGER_APPROVAL', 'MANUAL_PROVISIONING'],
  ])
  for (const { access_request_id } of open) expect(ids).toContain(access_request_id)
  const actors = (await items('/activity_logs?limit=100')).map(
    (one: { actor: { email: string } }) => one.actor.email,
  )
  // Requests are logged for the people who asked and decided; the host is the actor of everything else.
  const requesters = [
    'julia.olsen',
    'jose.meyer',
    'anais.fischer',
    'kai.silva',
    'ada.abbott',
    'fatima.dubois',
  ]
  const people = requesters.map((one) => `${one}@example.com`)
  expect(['', 'admin@localhost', ...people]).toEqual(expect.arrayContaining(actors))
  expect(actors).toEqual(expect.arrayContaining(people))
})

test('the sample company syncs its apps, and its policy grants access', async () => {
  await start()
  await ensure()
  const support = people()
    .slice(0, COMPANY_SIZE)
    .filter(({ department }) => department === 'Support')
  await untilIdle()
  await until('every person of Support is in the on-call group', async () => {
    const url = `http://${directory.host}/warehouse/scim/Groups/g-11`
    const reply = await fetch(url, { headers: { authorization: `Bearer ${SAMPLE_TOKEN}` } })
    const { members } = (await reply.json()) as { members: { value: string }[] }
    return support.every(({ id }) => members.some(({ value }) => value === id))
  })
  const apps: { sync_status: string | null }[] = await items('/apps')
  expect(apps.map(({ sync_status }) => sync_status)).toEqual(['SUCCESS', 'SUCCESS'])
  expect(await total('/accounts')).toBe(2 * PEOPLE_COUNT)
  const [review] = await items('/access_reviews')
  expect(review).toMatchObject({ status: 'IN_PROGRESS', apps: [{ status: 'IN_PROGRESS' }] })
  expect(await total(`/access_reviews/${review.id}/items?state=OPEN`)).toBeGreaterThan(0)
})

test('creating it again changes nothing, even after its data was changed', async () => {
  await start()
  await ensure()
  const [task] = await items('/tasks')
  await core.call('POST', `/tasks/${task.id}/complete`)
  const [app] = await items('/apps')
  await untilIdle()
  await core.call('DELETE', `/apps/${app.id}`)
  // The consequences are logged, too.
  await untilIdle()
  const before = await counts()
  expect(await ensure()).toBe('there')
  expect(await counts()).toEqual(before)
  expect((await core.call('GET', `/tasks/${task.id}`)).body.status).toBe('COMPLETED')
  expect((await core.call('GET', `/apps/${app.id}`)).body.disconnected).toBe(true)
})

test('two concurrent runs create one company', async () => {
  await start()
  expect((await Promise.all([ensure(), ensure()])).sort()).toEqual(['made', 'there'])
  expect(await total('/users')).toBe(COMPANY_SIZE + 1)
})

test('the sample company is left out if there are people already', async () => {
  await start()
  await person(core.db, 'somebody@example.com')
  expect(await ensure()).toBe('left-out')
  expect(await counts()).toEqual([2, 0, 0, 0, STARTED])
})

test('a failure of a connected system leaves nothing behind', async () => {
  await start()
  await directory.close()
  await expect(ensure()).rejects.toMatchObject({ kind: 'upstream_failed' })
  expect(await counts()).toEqual([1, 0, 0, 0, STARTED])
})

test('creation waits while the database is away', async () => {
  await start()
  const errors: Error[] = []
  const stop = () => process.kill(core.host.databasePid() as number, 'SIGINT')
  stop()
  await until('the database is away', async () => (await core.call('GET', '/users')).status === 503)
  const made = ensure(undefined, (error) => errors.push(error))
  // The database may be back before the first query: stop it again.
  await until('the wait for the database is reported', async () => {
    if (errors.length > 0) return true
    if ((await core.call('GET', '/users')).status === 200 && errors.length === 0) stop()
    return false
  })
  expect(await made).toBe('made')
  expect(await total('/users')).toBe(COMPANY_SIZE + 1)
})

test('creation stops when the host stops', async () => {
  await start()
  const stopping = new AbortController()
  stopping.abort()
  await expect(ensure(stopping.signal)).rejects.toThrow(/abort/i)
})
