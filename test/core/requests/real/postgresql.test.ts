/** A role of a real PostgreSQL server for an hour: requested, approved, used, and expired. */
import { eq } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessRequests } from '../../../../runtime/database/schema/requests.ts'
import { until } from '../../../e2e/until.ts'
import { type Database, noDatabase, startDatabase } from '../../../egress/sql/database.ts'
import { type CoreHost, person, startCore } from '../../host.ts'
import { type Company, company } from '../company.ts'

const HOUR_SECONDS = 3600
const EMAIL = 'ada@acme.example'
const PASSWORD = 'a-password-of-her-own'

describe.skipIf(noDatabase !== null)(`a role${noDatabase ? ` (${noDatabase})` : ''}`, () => {
  let database: Database
  let core: CoreHost
  let acme: Company
  let appId: string

  beforeAll(async () => {
    database = await startDatabase()
    core = await startCore({ KEYWAY_PRIVATE_EGRESS: `postgresql=127.0.0.1:${database.port}` })
    acme = company(core)
    await core.host.settled
    await asAdmin('grant pg_signal_backend to connector')
    appId = await acme.connected({
      app_class_id: 'postgresql',
      auth: { username: database.auth.username, password: database.auth.password },
      settings: { url: `postgresql://127.0.0.1:${database.port}`, database: 'corp' },
    })
    await core.call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })
    await until('the sync has succeeded', async () => {
      const { body } = await core.call('GET', `/apps/${appId}`)
      return body.sync_status === 'SUCCESS'
    })
  }, 180_000)
  afterAll(async () => {
    await core?.stop()
    await database?.stop()
  })

  async function query(user: string, password: string, text: string) {
    const { host, port } = database
    const client = new pg.Client({ host, port, database: 'corp', user, password, ssl: false })
    try {
      await client.connect()
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
  const asAdmin = (text: string) => query('admin', 'admin-secret', text)
  const read = () => query(EMAIL, PASSWORD, 'select note from sales.orders order by id')

  it('lets a person read a table for an hour, and no longer', async () => {
    const { body } = await core.call(
      'GET',
      `/appstore/requestable_permissions?app_id=${appId}&search_term=readers&size=100`,
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
    await expect(read()).rejects.toMatchObject({ code: '28P01' })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'COMPLETED')
    await asAdmin(`alter role "${EMAIL}" password '${PASSWORD}'`)
    expect(await read()).toEqual([{ note: 'first' }, { note: 'second' }])

    // The hour is over.
    const over = new Date(Date.now() - 1000)
    await core.db
      .update(accessRequests)
      .set({ expiresAt: over, wakeAt: over })
      .where(eq(accessRequests.id, id))
    await acme.reaches(id, 'TIME_BASED_EXPIRED')
    await expect(read()).rejects.toMatchObject({ code: expect.stringMatching(/^42501$|^28/) })
  })
})
