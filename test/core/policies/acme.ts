/** People with departments, and policies that apply to departments. */
import { and, eq } from 'drizzle-orm'
import { usersChanged } from '../../../runtime/core/policies/changed.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { accessPolicies, policyWants } from '../../../runtime/database/schema/policies.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { until } from '../../e2e/until.ts'
import { type CoreHost, domainOf, type Person, person } from '../host.ts'

export const inDepartment = (department: string) => ({
  attribute: 'identity.custom_attributes["Department"]',
  equals: department,
})

export type Acme = ReturnType<typeof acme>

export function acme(core: CoreHost) {
  /** Changes a user as an identity source does, and reports the change in the same transaction. */
  const change = async (id: string, values: Partial<typeof users.$inferInsert>): Promise<void> => {
    const domainId = await domainOf(core.db)
    await core.db.transaction(async (tx) => {
      await tx.update(users).set(values).where(eq(users.id, id))
      await usersChanged(tx, domainId, [id], null)
    })
  }

  const moveTo = (id: string, department: string) =>
    change(id, { customAttributes: { Department: { type: 'STRING', value: department } } })

  async function worker(name: string, department: string): Promise<Person & { email: string }> {
    const email = `${name}@acme.example`
    const made = await person(core.db, email)
    await moveTo(made.id, department)
    return { ...made, email }
  }

  async function policy(department: string, apps: object[], more: object = {}): Promise<string> {
    const body = {
      name: `Policy of ${department}`,
      business_justification: 'They need it.',
      status: 'PUBLISHED',
      is_enabled: true,
      apps,
      access_condition: inDepartment(department),
      ...more,
    }
    const { status, body: made } = await core.call('POST', '/access_policies', { body })
    if (status !== 200) throw new Error(JSON.stringify(made))
    return made.id
  }

  /** Changes members of a policy. */
  async function edit(id: string, changes: object): Promise<void> {
    const { id: _, ...before } = (await core.call('GET', `/access_policies/${id}`)).body
    const body = { ...before, ...changes }
    const { status, body: answer } = await core.call('PUT', `/access_policies/${id}`, { body })
    if (status !== 200) throw new Error(JSON.stringify(answer))
  }

  const requestsOf = (userId: string, policyId?: string) =>
    core.db
      .select()
      .from(accessRequests)
      .where(
        and(
          eq(accessRequests.targetUserId, userId),
          policyId === undefined ? undefined : eq(accessRequests.policyId, policyId),
        ),
      )
      .orderBy(accessRequests.createdAt, accessRequests.id)

  /** Waits until the requests of a user are in these states, oldest first. */
  const reach = (userId: string, ...statuses: string[]) =>
    until(`the requests are ${statuses.join(', ')}`, async () => {
      const rows = await requestsOf(userId)
      const now = rows.map(({ status }) => status)
      return JSON.stringify(now) === JSON.stringify(statuses) ? rows : null
    })

  /** Waits until every policy has been compared with everybody. */
  const untilCompared = () =>
    until('every policy has been compared with every person', async () => {
      const wants = await core.db.select().from(policyWants)
      const policies = await core.db.select().from(accessPolicies)
      return wants.length === 0 && policies.every(({ sweptTo }) => sweptTo === null) ? true : null
    })

  return { change, moveTo, worker, policy, edit, requestsOf, reach, untilCompared }
}
