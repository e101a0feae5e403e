/** A small company whose app is synced and reviewed: ada and ben report to mia, who has no manager. */
import { eq } from 'drizzle-orm'
import { users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { type Person, person, type Reply } from '../host.ts'
import { connect, startSynced, sync } from '../sync/synced.ts'
import {
  account,
  association,
  entitlement,
  startUpstream,
  type Upstream,
} from '../sync/upstream.ts'
import { startReceiver } from '../webhooks/receiver.ts'

export type Line = {
  id: string
  state: string
  unique_identifier: string
  label: string | null
  user_id: string | null
  problem: string | null
  hints: { name: string; red: boolean }[]
  peers: { held: number; of: number } | null
  reviewer_user_ids: string[]
  gone_at: string | null
  gone_run: number | null
}

export type Reviewed = Awaited<ReturnType<typeof startReviewed>>

const FAR = '2999-01-01T00:00:00Z'

export async function startReviewed() {
  const upstream = await startUpstream()
  const receiver = await startReceiver()
  const core = await startSynced(upstream, {}, { webhooks: receiver.host })
  const { db } = core
  const mia = await person(db, 'mia@example.com')
  const ada = await person(db, 'ada@example.com')
  const ben = await person(db, 'ben@example.com')
  for (const { id } of [ada, ben])
    await db.update(users).set({ managerId: mia.id }).where(eq(users.id, id))
  let count = 0
  /** Tenants of the apps of this test. A removal of an earlier one may still be retried. */
  const tenants = new Set<string>()

  function reset(): void {
    tenants.clear()
    upstream.before = () => undefined
    upstream.restarting.clear()
    upstream.answerWrite = (_, request, tenant) => {
      if (tenants.has(tenant)) take(upstream, request)
      return { unassigned: true }
    }
    upstream.holds = {
      accounts: ['ada', 'ben', 'mia', 'bot'].map((id) => account(id)),
      resources: [],
      entitlements: [entitlement('g1'), entitlement('g2')],
      associations: [
        association('ada', 'g1'),
        association('ada', 'g2'),
        association('ben', 'g1'),
        association('mia', 'g1'),
        association('bot', 'g2'),
      ],
      activity: [],
    }
  }
  reset()

  const post = (path: string, body: object, who?: Person): Promise<Reply> =>
    core.call('POST', path, { body, ...(who ? { token: who.token } : {}) })

  /** A new app that has been synced. */
  async function synced(): Promise<string> {
    count += 1
    const tenant = `/tenant-${count}`
    tenants.add(tenant)
    const appId = await connect(core, { baseUrl: `${upstream.baseUrl}${tenant}` })
    const { state } = await sync(core, appId)
    if (state !== 'SUCCEEDED') throw new Error(`the sync is ${state}`)
    return appId
  }

  async function made(body: object = {}): Promise<string> {
    count += 1
    const reply = await post('/access_reviews', {
      ...{ name: `Review ${count}`, deadline_at: FAR },
      ...body,
    })
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return reply.body.access_review.id
  }

  const read = async (id: string) => (await core.call('GET', `/access_reviews/${id}`)).body

  /** Waits until a review is in a state. */
  const reaches = (id: string, status: string) =>
    until(`the review is ${status}`, async () => {
      const review = await read(id)
      return review.status === status ? review : null
    })

  /** Waits until the first app of a review is in a state, and returns its id within the review. */
  const appReaches = (id: string, status: string): Promise<string> =>
    until(`the app of the review is ${status}`, async () => {
      const [reviewApp] = (await read(id)).apps
      return reviewApp?.status === status ? reviewApp.id : null
    })

  /** A launched review of an app. */
  async function launched(
    appId: string,
    more: object = {},
    settings?: object,
  ): Promise<{ id: string; reviewAppId: string }> {
    const id = await made()
    if (settings) {
      const reply = await core.call('PUT', `/access_reviews/${id}/settings`, { body: settings })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
    }
    const reply = await post(`/access_reviews/${id}/apps`, { apps: [{ id: appId, ...more }] })
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return { id, reviewAppId: await appReaches(id, 'IN_PROGRESS') }
  }

  async function lines(id: string, query = '', who?: Person): Promise<Line[]> {
    const options = who ? { token: who.token } : {}
    const { status, body } = await core.call(
      'GET',
      `/access_reviews/${id}/items?size=100${query}`,
      options,
    )
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body.items
  }

  /** The line of an account and an entitlement. */
  async function line(id: string, which: string): Promise<Line> {
    const found = (await lines(id)).find((one) => nameOf(one) === which)
    if (!found) throw new Error(`there is no line ${which}`)
    return found
  }

  const decide = (id: string, who: Person, body: object): Promise<Reply> =>
    post(`/access_reviews/${id}/items/decide`, body, who)

  /** Decides a line as a person who may do so. */
  async function decided(id: string, which: string, decision: string, who: Person): Promise<void> {
    const { id: item } = await line(id, which)
    const reply = await decide(id, who, { decision, item_ids: [item], reason: 'for a test' })
    if (reply.body.decided !== 1) throw new Error(JSON.stringify(reply.body))
  }

  const lineReaches = (id: string, which: string, state: string): Promise<Line> =>
    until(`the line ${which} is ${state}`, async () => {
      const found = await line(id, which)
      return found.state === state ? found : null
    })

  return {
    ...{
      upstream,
      receiver,
      core,
      mia,
      ada,
      ben,
      reset,
      post,
      synced,
      made,
      read,
      reaches,
      appReaches,
    },
    ...{ launched, lines, line, decide, decided, lineReaches },
    async stop() {
      await core.stop()
      await upstream.close()
      await receiver.close()
    },
  }
}

/** `ACCOUNT LABEL`. */
export const nameOf = ({ unique_identifier, label }: Pick<Line, 'unique_identifier' | 'label'>) =>
  `${unique_identifier} ${label ?? ''}`.trim()

export const statesOf = (lines: readonly Line[]): Record<string, string> =>
  Object.fromEntries(lines.map((one) => [nameOf(one), one.state]))

type Held = { account_id: string; integration_specific_entitlement_id: string }

/** Removes an association in the system, as a request of a connector says. */
export function take(upstream: Upstream, request: Record<string, string>): void {
  const held = upstream.holds.associations as Held[]
  upstream.holds.associations = held.filter(
    (one) =>
      one.account_id !== request['account_integration_specific_id'] ||
      one.integration_specific_entitlement_id !== request['entitlement_integration_specific_id'],
  )
}

/** Whether the system itself reports that an account holds an entitlement. */
export const holds = (upstream: Upstream, account: string, id: string): boolean =>
  (upstream.holds.associations as Held[]).some(
    (one) => one.account_id === account && one.integration_specific_entitlement_id === id,
  )
