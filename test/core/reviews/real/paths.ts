/** A review of what a server of others holds, and what it holds after it: run against each such server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, person, startCore } from '../../host.ts'
import { acme } from '../../policies/acme.ts'
import { company } from '../../requests/company.ts'
import type { RealAccess } from '../../requests/real/paths.ts'
import { sync } from '../../sync/synced.ts'
import type { Line } from '../reviewed.ts'

const PEOPLE = 24
const FAR = '2999-01-01T00:00:00Z'

/** `why`: what is missing for the server to be started here, or null. */
export function describeReview(
  name: string,
  why: string | null,
  start: () => Promise<RealAccess>,
): void {
  describe.skipIf(why !== null)(`a review of ${name}${why ? ` (${why})` : ''}`, () => {
    let system: RealAccess
    let core: CoreHost
    let app: { id: string }
    const emails = Array.from({ length: PEOPLE }, (_, n) => `held-${n}@acme.example`)

    beforeAll(async () => {
      system = await start()
      core = await startCore({
        KEYWAY_PRIVATE_EGRESS: system.egress,
        KEYWAY_REQUESTS_PER_MINUTE: '100000',
      })
      await core.host.settled
      for (const email of emails) {
        await system.give(email)
        await person(core.db, email)
      }
      app = await post('/apps', system.app, 200)
    })
    afterAll(async () => {
      await core?.stop()
      await system?.stop()
    })

    const post = async (path: string, body: object, status: number) => {
      const reply = await core.call('POST', path, { body })
      expect(reply.status, JSON.stringify(reply.body)).toBe(status)
      return reply.body
    }

    it('takes what a policy gave, and the policy does not give it again', async () => {
      const people = acme(core)
      await company(core).inStore(app.id)
      expect((await sync(core, app.id)).state).toBe('SUCCEEDED')
      const { body: found } = await core.call(
        'GET',
        `/appstore/requestable_permissions?app_id=${app.id}&search_term=${system.label}`,
      )
      const permissions = [{ id: found.items[0].id }]
      await people.policy('Watch', [{ id: app.id, is_preapproved: true, permissions }])
      const ada = await people.worker('ada', 'Watch')
      await people.reach(ada.id, 'COMPLETED')
      expect(await system.holds(ada.email)).toBe(true)
      expect((await sync(core, app.id)).state).toBe('SUCCEEDED')
      const review = { name: 'The policy', deadline_at: FAR, apps: [{ id: app.id }] }
      const { id } = (await post('/access_reviews', review, 201)).access_review
      await until('it is launched', async () => {
        const { body } = await core.call('GET', `/access_reviews/${id}`)
        return body.status === 'IN_PROGRESS'
      })
      const { body: hers } = await core.call('GET', `/access_reviews/${id}/items?user_id=${ada.id}`)
      const line = hers.items.find((one: Line) => one.label === system.label)
      expect(line.hints).toContainEqual({ name: 'GIVEN_BY_POLICY', red: false })
      const decide = `/access_reviews/${id}/items/decide`
      const no = { decision: 'REJECT', item_ids: [line.id], reason: 'not she' }
      expect((await post(decide, no, 200)).decided).toBe(1)
      await post(`/access_reviews/${id}/complete`, {}, 200)
      await people.reach(ada.id, 'REVERTED')
      await until('the review is over', async () => {
        const { body } = await core.call('GET', `/access_reviews/${id}`)
        return body.status === 'COMPLETED'
      })
      // Looked at once more, she still fits it, and gets nothing.
      await people.moveTo(ada.id, 'Watch')
      await people.quiet()
      await people.reach(ada.id, 'REVERTED')
      expect(await system.holds(ada.email)).toBe(false)
    }, 240_000)

    it('takes what was rejected from the server itself, and nothing else', async () => {
      expect((await sync(core, app.id)).state).toBe('SUCCEEDED')
      const review = { name: 'Everything', deadline_at: FAR, apps: [{ id: app.id }] }
      const { id } = (await post('/access_reviews', review, 201)).access_review
      const read = async () => (await core.call('GET', `/access_reviews/${id}`)).body
      await until('it is launched', async () => (await read()).status === 'IN_PROGRESS')
      const { body } = await core.call('GET', `/access_reviews/${id}/items?size=100&search=held-`)
      const lines: (Line & { account_email: string | null })[] = body.items
      const held = lines.filter(({ label }) => label === system.label)
      expect(held).toHaveLength(PEOPLE)
      const rejected = held.filter((_, index) => index % 3 === 0)
      const item_ids = rejected.map((line) => line.id)
      const decide = `/access_reviews/${id}/items/decide`
      const no = { decision: 'REJECT', item_ids, reason: 'left the team' }
      expect((await post(decide, no, 200)).decided).toBe(PEOPLE / 3)
      await post(decide, { decision: 'KEEP', filter: {}, reason: 'the rest stays' }, 200)
      await post(`/access_reviews/${id}/complete`, {}, 200)
      await until('it is over', async () => (await read()).status === 'COMPLETED', 180_000)
      const { body: progress } = await core.call('GET', `/access_reviews/${id}/progress`)
      expect(progress.states).toMatchObject({ REMOVED: PEOPLE / 3 })
      const gone = new Set(rejected.map((line) => line.user_id))
      for (const line of held) {
        const email = emailOf(line)
        expect(await system.holds(email), email).toBe(!gone.has(line.user_id))
      }
    }, 240_000)
  })
}

/** Of an account, its address; where the server knows none, its id is one. */
const emailOf = (line: Line & { account_email: string | null; user_email?: string | null }) =>
  line.user_email ?? line.account_email ?? line.unique_identifier
