/** Helpers to offboard people who have accounts in apps. */
import { accounts } from '../../../runtime/database/schema/apps.ts'
import { until } from '../../e2e/until.ts'
import { type CoreHost, domainOf } from '../host.ts'

const PATH = '/lifecycle-management/user-offboardings'

export function leaving(core: CoreHost) {
  return {
    /** Stores an account that existed before any request, as a sync does. */
    async known(
      userId: string,
      uniqueIdentifier: string,
      appId: string,
      more: Partial<typeof accounts.$inferInsert> = {},
    ): Promise<void> {
      const domainId = await domainOf(core.db)
      await core.db.insert(accounts).values({ domainId, appId, userId, uniqueIdentifier, ...more })
    },

    async offboard(user_id: string): Promise<string> {
      const { status, body } = await core.call('POST', PATH, { body: { user_id } })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.id
    },

    cancel: (id: string) => core.call('POST', `${PATH}/${id}/cancel`),

    async statusOf(id: string): Promise<string> {
      return (await core.call('GET', `${PATH}/${id}`)).body.status
    },

    /** Waits until an offboarding is in a state. */
    reaches: (id: string, status: string) =>
      until(`the offboarding is ${status}`, async () => {
        const { body } = await core.call('GET', `${PATH}/${id}`)
        return body.status === status ? body : null
      }),

    /** The task of a person who leaves, once there is one. */
    taskOf: (userId: string) =>
      until('the offboarding has a manual task', async () => {
        const { body } = await core.call(
          'GET',
          '/tasks?show_all_tasks=true&product_area=OFFBOARDING&status=PENDING',
        )
        return (
          body.items.find(
            (one: { target_user: { id: string } }) => one.target_user.id === userId,
          ) ?? null
        )
      }),
  }
}
