/** The connector is upgraded, disabled or removed while it grants access. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { operator } from '../../../connectors/lifecycle/operator.ts'
import { casesFor, type Made, packaged } from '../../../connectors/lifecycle/packaging.ts'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, person, QUICK_PACE, startCore } from '../../host.ts'
import { type Company, company } from '../company.ts'
import { type BadSystem, type End, startBadSystem } from './bad-system.ts'

/** Answers of each capability without a system, for the test cases of the package. */
const ANSWERS = {
  list_accounts: [],
  create_account: { status: 'ACTIVE', created: true, id: null },
  get_account_entitlement_associations: [],
  assign_entitlement: { assigned: true },
  unassign_entitlement: { unassigned: true },
}
const GRANT = {
  account_integration_specific_id: 'a',
  resource_integration_specific_id: '',
  resource_type: '',
  entitlement_type: 'GROUP',
  entitlement_integration_specific_id: 'group',
}
const REQUESTS = {
  create_account: { entitlements: [], email: 'a@b.example', username: 'a' },
  get_account_entitlement_associations: { account_id: 'a' },
  assign_entitlement: GRANT,
  unassign_entitlement: GRANT,
}

let system: BadSystem
let core: CoreHost
let acme: Company
let op: ReturnType<typeof operator>
let appId: string
let permission: string
let people = 0

function version(number: string): Promise<Made> {
  const handlers = Object.entries(ANSWERS).map(
    ([name, answer]) => `async ${name}(request, ctx) {
      if (!ctx.settings.base_url) return ${JSON.stringify(answer)}
      const input = JSON.stringify(request)
      const read = ${/^(get|list)/.test(name)}
      const url = ctx.settings.base_url + '/${number}/${name}' + (read ? '?request=' + encodeURIComponent(input) : '')
      const reply = await ctx.fetch(url, read ? {} : { method: 'POST', body: input })
      if (!reply.ok) throw await ConnectorError.from(reply)
      return await reply.json()
    },`,
  )
  const capabilities = Object.fromEntries(Object.keys(ANSWERS).map((name) => [name, {}]))
  const cases = casesFor(
    capabilities,
    Object.fromEntries(Object.entries(REQUESTS).map(([name, request]) => [name, { request }])),
  )
  return packaged(
    {
      version: number,
      settings: { base_url: { type: 'string', format: 'url' } },
      egress: [{ url: `http://${system.host}` }],
      capabilities,
      entitlement_types: [{ type_id: 'GROUP', type_label: 'Group', resource_type_id: '', min: 0 }],
      limits: { deadline_ms: 5000 },
    },
    `import { ConnectorError, defineConnector } from 'keyway/sdk'
    export default defineConnector({ ${handlers.join('\n')} } as never)`,
    cases,
  )
}

beforeAll(async () => {
  system = await startBadSystem()
  core = await startCore(
    { KEYWAY_PRIVATE_EGRESS: `acme=${system.host}`, KEYWAY_REQUESTS_PER_MINUTE: '100000' },
    { pace: QUICK_PACE },
  )
  await core.host.settled
  acme = company(core)
  op = operator(core)
  await op.install(await version('1.0.0'))
  appId = await acme.connected({ ...system.app, app_class_id: 'acme' })
  permission = await acme.group(appId)
})
afterAll(async () => {
  await core.stop()
  await system.close()
})
beforeEach(() => system.behave(() => 'well'))

/** A request whose entitlement is being assigned; `release` lets the call finish. */
async function assigning() {
  people += 1
  const email = `person-${people}@acme.example`
  const { promise, resolve } = Promise.withResolvers<End>()
  const before = system.count('assign_entitlement')
  system.once('assign_entitlement', promise)
  const id = await acme.asked(await person(core.db, email), {
    app_id: appId,
    requestable_permission_ids: [permission],
  })
  await acme.settle(id, 'complete')
  await until(
    'the entitlement is being assigned',
    () => system.count('assign_entitlement') > before,
  )
  return { id, email, release: resolve }
}

const expectGrantedOnce = (email: string) => {
  const own = system.accountsOf(email)
  expect(own).toHaveLength(1)
  expect(system.held.has(`${own[0]?.[0]} group`)).toBe(true)
}

const untilProblem = (id: string, words: RegExp) =>
  until(`the request reports ${words}`, async () => {
    const { rows } = await core.db.execute(
      sql`select problem from access_requests where id = ${id}`,
    )
    return words.test(String(rows[0]?.['problem']))
  })

it('a request whose connector is upgraded during a call completes once, with the new version', async () => {
  const { id, email, release } = await assigning()
  const before = system.paths.length
  expect(system.paths.at(-1)).toBe('/1.0.0/assign_entitlement')
  await op.install(await version('1.1.0'))
  release('well')
  await acme.reaches(id, 'COMPLETED')
  expectGrantedOnce(email)
  const later = system.paths.slice(before)
  expect(later.length).toBeGreaterThan(0)
  expect(later.filter((one) => !one.startsWith('/1.1.0/'))).toEqual([])
})

it('a request whose connector is disabled waits, records why, and completes after it is enabled', async () => {
  const { id, email, release } = await assigning()
  expect((await op.call('POST', '/connectors/acme/disable', { at_once: true })).status).toBe(200)
  release('well')
  await untilProblem(id, /disabled|not served|unavailable|gone/i)
  expect((await op.call('POST', '/connectors/acme/enable', {})).status).toBe(200)
  await acme.reachesSoon(id, 'COMPLETED')
  expectGrantedOnce(email)
})

it('a request whose connector is removed waits, records why, and completes after it is reinstalled', async () => {
  const { id, email, release } = await assigning()
  expect((await op.call('DELETE', '/connectors/acme')).status).toBe(200)
  release('before')
  await untilProblem(id, /is not served/)
  await op.install(await version('1.2.0'))
  await acme.reachesSoon(id, 'COMPLETED')
  expectGrantedOnce(email)
})
