/** The database goes and comes back; nothing needs a restart. */
import { expect, test } from 'vitest'
import { isAway } from '../../runtime/database/database.ts'
import { killDatabase } from '../database/kill.ts'
import { startCore } from './host.ts'

test('a killed database is told as such, connectors answer meanwhile, and it comes back by itself', async () => {
  const core = await startCore()
  const { rows } = await core.db.execute(
    'select pg_postmaster_start_time(), pg_backend_pid() as pid',
  )
  const before = rows[0]
  expect((await core.call('GET', '/users/current')).status).toBe(200)
  killDatabase(core.host.databasePid())

  let away = await core.call('GET', '/users/current')
  for (let tries = 0; away.status === 200 && tries < 50; tries += 1)
    away = await core.call('GET', '/users/current')
  expect(away).toMatchObject({ status: 503, body: { detail: 'The database is away; try again' } })
  expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0)
  const connectors = await core.host.app.request('/connectors/list-connector-app-ids', {
    headers: { host: 'localhost' },
  })
  expect(connectors.status).toBe(200)

  let back = away
  for (let tries = 0; back.status !== 200 && tries < 200; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    back = await core.call('GET', '/users/current')
  }
  expect(back).toMatchObject({ status: 200, body: { email: 'admin@localhost' } })
  const { rows: after } = await core.db.execute(
    'select pg_postmaster_start_time(), pg_backend_pid() as pid',
  )
  expect(after[0]).not.toEqual(before)
  await core.stop()
})

test('a database that is killed in the middle of a transaction fails that one, not the host', async () => {
  const core = await startCore()
  const transaction = core.db.transaction(async (tx) => {
    await tx.execute('select 1')
    killDatabase(core.host.databasePid())
    // Nobody asks anything while the connection goes.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await tx.execute('select 1')
  })
  const error = await transaction.catch((thrown) => thrown)
  expect(isAway(error), String(error)).toBe(true)
  await core.stop()
})
