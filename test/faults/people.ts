/** Requests, grants and expires access of people, and compares the system with the records. */
import { requestablePermissions } from '../../runtime/database/schema/app_store.ts'
import { domains, users } from '../../runtime/database/schema/people.ts'
import type { Scene } from './scene.ts'

export type Asked = { id: string; email: string; lasts: boolean }

/** The app in the store, with one permission. */
export async function openStore(scene: Scene): Promise<{ appId: string; permissionId: string }> {
  const made = await scene.answered('POST', '/apps', scene.system.app)
  const appId: string = made.value.id
  await scene.answered('POST', '/appstore/apps', { app_id: appId })
  const [domain] = await scene.db().select().from(domains)
  const [permission] = await scene
    .db()
    .insert(requestablePermissions)
    .values({
      domainId: domain?.id ?? '',
      appId,
      label: 'Group',
      type: 'SYNCED',
      visibility: 'VISIBLE',
      entitlementType: 'GROUP',
      entitlementId: 'group',
      resourceType: '',
      resourceId: '',
      document: { appstore_visibility: 'VISIBLE' },
    })
    .returning()
  return { appId, permissionId: permission?.id ?? '' }
}

/** Duration of access that expires during a fault, in seconds. */
const SHORT_SECONDS = 3

let count = 0

/** Creates people in advance, so that nothing has to be created during a fault. */
export async function newPeople(scene: Scene, number: number): Promise<string[]> {
  const [domain] = await scene.db().select().from(domains)
  const rows = Array.from({ length: number }, () => {
    count += 1
    return { domainId: domain?.id ?? '', email: `person-${count}@acme.example`, givenName: 'P' }
  })
  await scene.db().insert(users).values(rows)
  return rows.map(({ email }) => email)
}

/** Requests access for a person; if an answer was lost, looks for the request before repeating it. */
export async function ask(
  scene: Scene,
  { appId, permissionId }: { appId: string; permissionId: string },
  email: string,
  lasts: boolean,
): Promise<Asked> {
  const search = await scene.answered('GET', `/users?search_term=${encodeURIComponent(email)}`)
  const userId: string = search.value.items[0].id
  for (;;) {
    const there = await scene.answered('GET', `/appstore/access_requests?target_user_id=${userId}`)
    const known = there.value.items.find(
      (one: { target_user?: { id: string } }) => one.target_user?.id === userId,
    )
    if (known) return { id: known.id, email, lasts }
    await scene.call('POST', '/appstore/access_request', {
      app_id: appId,
      requester_user_id: userId,
      requestable_permission_ids: [permissionId],
      ...(lasts ? {} : { expiration_in_seconds: SHORT_SECONDS }),
    })
  }
}

/** Approves a request, and retries until it is acknowledged. */
export async function approve(scene: Scene, { id }: Asked): Promise<void> {
  for (;;) {
    const open = await scene.answered(
      'GET',
      `/tasks?show_all_tasks=true&access_request_id=${id}&status=PENDING`,
    )
    const task = open.value.items.find((one: { task_category: string }) =>
      one.task_category.endsWith('APPROVAL'),
    )
    if (!task) return
    await scene.call('POST', `/tasks/${task.id}/complete`)
  }
}

/** Faults, a line each; none if the system matches the requests. */
export async function findingsOf(scene: Scene, asked: readonly Asked[]): Promise<string[]> {
  const wrong: string[] = []
  for (const { id, email, lasts } of asked) {
    const { value } = await scene.answered('GET', `/appstore/access_requests/${id}`)
    const wanted = lasts ? 'COMPLETED' : 'TIME_BASED_EXPIRED'
    if (value.status !== wanted) wrong.push(`${email}: ${value.status}, not ${wanted}`)
    const accounts = scene.system.accountsOf(email)
    if (accounts.length > 1) wrong.push(`${email}: ${accounts.length} accounts`)
    const holds = scene.system.held.has(`${accounts[0]?.[0]} group`)
    if (holds !== lasts) wrong.push(`${email}: ${holds ? 'still holds it' : 'does not hold it'}`)
  }
  const open = await scene.answered('GET', '/tasks?show_all_tasks=true&status=PENDING')
  for (const { task_type, description } of open.value.items)
    wrong.push(`a person is asked: ${task_type}: ${description}`)
  return wrong
}
