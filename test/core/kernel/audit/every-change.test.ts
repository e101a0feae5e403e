/** Every endpoint that changes something, called by an admin, leaves a log entry with its actor. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Endpoint } from '../../../../runtime/contract/endpoints/endpoint.ts'
import { ENDPOINTS, type EndpointName } from '../../../../runtime/contract/endpoints/table.ts'
import { chainWaiting } from '../../../../runtime/core/kernel/audit/unchained-entries.ts'
import { bodyOf, builderOf, type World } from '../../conformance-samples.ts'
import { type CoreHost, domainOf, otherDomain, type Person, person, startCore } from '../../host.ts'

let core: CoreHost
let world: World
let chief: Person

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '1000000' })
  await core.host.settled
  const { db } = core
  world = { db, domainId: await domainOf(db), otherDomainId: await otherDomain(db) }
  chief = await person(db, 'chief@example.com', ['Admin'])
})
afterAll(() => core.stop())

const CHANGING = (Object.entries(ENDPOINTS) as [EndpointName, Endpoint][]).filter(
  ([, { method }]) => method !== 'GET',
)

async function entriesOf(who: Person): Promise<string[]> {
  await chainWaiting(core.db, world.domainId)
  const { rows } = await core.db.execute<{ type: string }>(sql`
    select event_type as type from activity_logs where actor ->> 'id' = ${who.id} order by id`)
  return rows.map(({ type }) => type)
}

/** Endpoints that an admin may not call for others, or that change nothing. They have their own tests. */
const NOT_DONE: ReadonlySet<EndpointName> = new Set([
  'give_back_access',
  'remind_approvers',
  'take_break_glass',
  'decide_access_review_items',
  'preview_access_review_scope',
])

/** A role that the sample does not have yet. */
const TAKEN: Readonly<Record<string, string>> = { add_user_role: 'App Admin' }

test.each(CHANGING.filter(([name]) => !NOT_DONE.has(name)))(
  'a call of %s is logged with its actor',
  async (name, row) => {
    let path = row.path
    for (const [, param = ''] of row.path.matchAll(/:([a-z_]+)/g)) {
      const role = param === 'role_name' ? TAKEN[name] : undefined
      const id = role ?? (await builderOf(param, row.path).own(world))
      path = path.replace(`:${param}`, encodeURIComponent(id))
    }
    const body = row.body === null ? {} : { body: await bodyOf(name, world) }
    const before = await entriesOf(chief)
    const reply = await core.call(row.method, path, { token: chief.token, ...body })
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
    // Uploads are logged when they are applied.
    await expect.poll(() => entriesOf(chief), { timeout: 20_000 }).not.toEqual(before)
  },
)
