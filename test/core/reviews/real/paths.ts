/** A review of what a server of others holds, and what it holds after it: run against each such server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, person, startCore } from '../../host.ts'
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

    it('takes what was rejected from the server itself, and nothing else', async () => {
      const app = await post('/apps', system.app, 200)
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
