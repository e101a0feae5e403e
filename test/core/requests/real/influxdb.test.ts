/** A database of a real InfluxDB for an hour: requested, approved, queried, and expired. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessRequests } from '../../../../runtime/database/schema/requests.ts'
import { until } from '../../../e2e/until.ts'
import { installSystem, missing, type RealSystem } from '../../../real-systems/start.ts'
import { type CoreHost, person, startCore } from '../../host.ts'
import { type Company, company } from '../company.ts'

type Basic = { username: string; password: string }

const HOUR_SECONDS = 3600
const EMAIL = 'ada@acme.example'
const PASSWORD = 'a-password-of-her-own'

const tools = missing('apt-get', 'dpkg')
const installed = tools === null ? await installSystem<Basic>('influxdb') : { why: tools }
const why = 'why' in installed ? installed.why : null

describe.skipIf(why !== null)(`a database of InfluxDB${why ? ` (${why})` : ''}`, () => {
  let system: RealSystem<Basic>
  let core: CoreHost
  let acme: Company
  let appId: string

  beforeAll(async () => {
    if ('why' in installed) throw new Error(installed.why)
    system = await installed.system.start()
    core = await startCore({
      KEYWAY_PRIVATE_EGRESS: `influxdb=${new URL(system.baseUrl).host}`,
    })
    acme = company(core)
    await core.host.settled
    appId = await acme.connected({
      app_class_id: 'influxdb',
      auth: system.auth,
      settings: { base_url: system.baseUrl },
    })
    await core.call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })
    await until('the sync has succeeded', async () => {
      const { body } = await core.call('GET', `/apps/${appId}`)
      return body.sync_status === 'SUCCESS'
    })
  }, 180_000)
  afterAll(async () => {
    await core?.stop()
    await system?.stop()
  })

  const query = (q: string, { username, password }: Basic) =>
    fetch(`${system.baseUrl}/query`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
      body: new URLSearchParams({ q, db: 'sales' }),
    })
  const read = async () => {
    const reply = await query('SELECT total FROM orders', { username: EMAIL, password: PASSWORD })
    return { status: reply.status, text: await reply.text() }
  }

  it('lets a person query it for an hour, and no longer', async () => {
    const { body } = await core.call(
      'GET',
      `/appstore/requestable_permissions?app_id=${appId}&search_term=READ%20on%20sales&size=100`,
    )
    const [permission] = body.items
    await core.call('PATCH', `/appstore/requestable_permissions/${permission.id}`, {
      body: { request_config: { appstore_visibility: 'VISIBLE' } },
    })
    const ada = await person(core.db, EMAIL)
    const id = await acme.asked(ada, {
      app_id: appId,
      requestable_permission_ids: [permission.id],
      expiration_in_seconds: HOUR_SECONDS,
      note: 'on call',
    })
    expect(await read()).toMatchObject({ status: 401 })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'COMPLETED')
    await query(`SET PASSWORD FOR "${EMAIL}" = '${PASSWORD}'`, system.auth)
    expect(await read()).toMatchObject({ status: 200, text: expect.stringContaining('"total"') })

    // The hour is over.
    const over = new Date(Date.now() - 1000)
    await core.db
      .update(accessRequests)
      .set({ expiresAt: over, wakeAt: over })
      .where(eq(accessRequests.id, id))
    await acme.reaches(id, 'TIME_BASED_EXPIRED')
    // The account may be gone with its last grant: then it is 401.
    expect([401, 403]).toContain((await read()).status)
  })
})
