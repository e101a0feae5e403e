/** Helpers around a host: store apps, permissions, and access requests from creation to their end. */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../runtime/database/database.ts'
import { JOBS_SCHEMA } from '../../../runtime/database/jobs.ts'
import { requestablePermissions } from '../../../runtime/database/schema/app_store.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import type { EntitlementRef } from '../../../runtime/database/schema/requests.ts'
import { until } from '../../e2e/until.ts'
import { type CoreHost, domainOf, type Person, type Reply } from '../host.ts'

export type Company = ReturnType<typeof company>

/** Makes every pending retry due now. */
async function makeRetriesDue(db: Db): Promise<void> {
  await db.execute(
    sql`update app_outages set until = clock_timestamp() where until > clock_timestamp()`,
  )
  await db.execute(sql`update access_requests set wake_at = clock_timestamp()
    where todo is not null and failing_since is not null and wake_at > clock_timestamp()`)
  await db.execute(sql`update ${sql.identifier(JOBS_SCHEMA)}.job set start_after = clock_timestamp()
    where state = 'retry' and start_after > clock_timestamp()`)
}

export function company(core: Pick<CoreHost, 'call' | 'db'>) {
  /** Puts an app into the store. */
  async function inStore(
    appId: string,
    request_flow: object = {},
    provisioning: object = {},
  ): Promise<string> {
    const body = { app_id: appId, request_flow, provisioning }
    const { status, body: answer } = await core.call('POST', '/appstore/apps', { body })
    if (status !== 200) throw new Error(JSON.stringify(answer))
    return appId
  }

  /** Connects an app and puts it into the store. */
  async function connected(app: object, flow?: object, provisioning?: object): Promise<string> {
    const { status, body } = await core.call('POST', '/apps', { body: app })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return inStore(body.id, flow, provisioning)
  }

  /** A permission as a sync creates it. */
  async function synced(
    appId: string,
    label: string,
    entitlement: EntitlementRef,
    document: Record<string, unknown> = {},
  ): Promise<string> {
    const domainId = await domainOf(core.db)
    const values = { domainId, appId, label, type: 'SYNCED', visibility: 'VISIBLE' } as const
    const [row] = await core.db
      .insert(requestablePermissions)
      .values({
        ...values,
        ...entitlement,
        document: { appstore_visibility: 'VISIBLE', ...document },
      })
      .returning()
    return row?.id ?? ''
  }

  /** A group of an app, as a sync creates it. */
  const group = (appId: string, entitlementId = 'group', label = 'Group'): Promise<string> =>
    synced(appId, label, {
      entitlementType: 'GROUP',
      entitlementId,
      resourceType: '',
      resourceId: '',
    })

  /** Connects an app with one group that can be requested. */
  async function connectedWithGroup(app: object): Promise<{ appId: string; permission: string }> {
    const appId = await connected(app)
    return { appId, permission: await group(appId) }
  }

  const ask = (who: Person, body: object): Promise<Reply> =>
    core.call('POST', '/appstore/access_request', { token: who.token, body })

  async function asked(who: Person, body: object): Promise<string> {
    const { status, body: made } = await ask(who, body)
    if (status !== 201) throw new Error(JSON.stringify(made))
    return made[0].id
  }

  const read = async (id: string, expand = '') =>
    (await core.call('GET', `/appstore/access_requests/${id}${expand}`)).body

  const statusOf = async (id: string): Promise<string> => (await read(id)).status

  /** Waits until a request is in a state. */
  const reaches = (id: string, status: string) =>
    until(`the request is ${status}`, async () => ((await statusOf(id)) === status ? status : null))

  /** Like `reaches`, but skips the pauses between retries. */
  const reachesSoon = (id: string, status: string) =>
    until(`the request is ${status}`, async () => {
      await makeRetriesDue(core.db)
      return (await statusOf(id)) === status ? status : null
    })

  /** Makes granted access expire now. */
  async function endTime(id: string): Promise<void> {
    const { rowCount } = await core.db.execute(sql`
      update access_requests set expires_at = clock_timestamp(), wake_at = clock_timestamp()
      where id = ${id} and status = 'COMPLETED' and expires_at > clock_timestamp()`)
    if (rowCount !== 1) throw new Error('the request has no access that expires later')
  }

  /** The open task of a request, as an admin sees it. */
  const openTask = async (id: string) =>
    (await core.call('GET', `/tasks?show_all_tasks=true&access_request_id=${id}&status=PENDING`))
      .body.items[0]

  async function settle(id: string, verb: 'complete' | 'dismiss'): Promise<void> {
    const task = await openTask(id)
    const { status } = await core.call('POST', `/tasks/${task.id}/${verb}`)
    if (status !== 204) throw new Error(`the task answered ${status}`)
  }

  /** “Try again now” on the open task of a request. */
  async function retry(id: string): Promise<void> {
    const task = await openTask(id)
    const body = { action_type: 'retry' }
    const { status } = await core.call('POST', `/tasks/${task.id}/perform-action`, { body })
    if (status >= 300) throw new Error(`the task answered ${status}`)
  }

  const setManager = (userId: string, managerId: string | null) =>
    core.db.update(users).set({ managerId }).where(eq(users.id, userId))

  return {
    inStore,
    connected,
    synced,
    group,
    connectedWithGroup,
    ask,
    asked,
    read,
    statusOf,
    reaches,
    reachesSoon,
    endTime,
    openTask,
    settle,
    retry,
    setManager,
  }
}
