/** The database fails and recovers, without a restart of Keyway. */
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isDatabaseUnavailable } from '../../runtime/database/unavailable.ts'
import { killDatabase } from '../database/kill.ts'
import { until } from '../e2e/until.ts'
import { eventually } from '../kit/eventually.ts'
import { shows } from '../symptoms.ts'
import { type CoreHost, startCore } from './host.ts'

let core: CoreHost

beforeAll(async () => {
  core = await startCore({}, { server: 'own' })
})
afterAll(() => core.stop())

const readyz = async () => {
  const reply = await core.host.app.request('/readyz', { headers: { host: 'localhost' } })
  return (await reply.json()) as { waiting_for: string[] }
}

/** Raises the error that PostgreSQL raises when a file cannot be extended. */
const FULL = `create function full_disk() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file "base/16384/16602": No space left on device' using errcode = '53100';
  end $$;
  create trigger full_disk before insert on user_roles for each row execute function full_disk();
  create trigger full_disk before insert on inline_webhooks for each row execute function full_disk()`

test('a full disk is reported by each interface, the log and /readyz; reads still work', async () => {
  const owner = new Client(await core.login())
  await owner.connect()
  await owner.query(FULL)
  const { id } = (await core.call('GET', '/users/current')).body
  const give = () => core.call('POST', `/users/${id}/roles/Auditor`)
  const hook = { name: 'x', hook_type: 'PROVISION', url: 'https://hooks.acme.example/' }
  const words = /The disk of Keyway is full.*ask an administrator to free space, then try again$/
  const refused = await give()
  expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringMatching(words) } })
  expect(refused.headers.get('retry-after')).toBe('30')
  const operating = await core.call('POST', '/operator/webhooks', { body: hook })
  expect(operating).toMatchObject({
    status: 503,
    body: { error: { message: expect.stringMatching(words) } },
  })
  expect(operating.headers.get('retry-after')).toBe('30')
  expect((await readyz()).waiting_for).toEqual([
    expect.stringMatching(/^room on the disk of the database, which is full \(\//),
  ])
  shows('a write is refused', refused.body, await readyz())
  expect((await core.call('GET', '/users/current')).status).toBe(200)
  const warnings = core.lines.filter((line) => line.includes('the disk of the database is full ('))
  expect(warnings).toHaveLength(1)
  await owner.query('drop function full_disk cascade')
  await owner.end()
  expect((await give()).status).toBeLessThan(300)
})

test('/readyz reports an unwritable data directory until it is writable again', async () => {
  const ready = async () =>
    (await core.host.app.request('/readyz', { headers: { host: 'localhost' } })).status === 200
  // A directory in place of the probe file makes writing fail.
  const taken = path.join(core.dataDir, `writable-${process.pid}`, 'taken')
  await until('the probe file can be replaced by a folder', () =>
    mkdir(taken, { recursive: true }).then(
      () => true,
      () => false,
    ),
  )
  await until('/readyz reports the data directory', async () =>
    (await readyz()).waiting_for.join().includes('data directory'),
  )
  expect(await ready()).toBe(false)
  shows('`/readyz` waits for “room in the data directory', await readyz())
  await rm(path.dirname(taken), { recursive: true })
  await until(
    '/readyz no longer reports the data directory',
    async () => !(await readyz()).waiting_for.join().includes('data directory'),
  )
})

test('a killed database is reported, connectors still answer, and the database restarts by itself', async () => {
  const { rows } = await core.db.execute(
    'select pg_postmaster_start_time(), pg_backend_pid() as pid',
  )
  const before = rows[0]
  expect((await core.call('GET', '/users/current')).status).toBe(200)
  killDatabase(core.host.databasePid())

  let away = await core.call('GET', '/users/current')
  for (let tries = 0; away.status === 200 && tries < 50; tries += 1)
    away = await core.call('GET', '/users/current')
  const detail = 'The database is unavailable; try again. If this persists, GET /readyz shows why'
  expect(away).toMatchObject({ status: 503, body: { detail } })
  expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0)
  const connectors = await core.host.app.request('/connectors/list-connector-app-ids', {
    headers: { host: 'localhost' },
  })
  expect(connectors.status).toBe(200)
  const metrics = await core.host.app.request('/metrics', { headers: { host: 'localhost' } })
  const text = await metrics.text()
  expect(text).toMatch(/^keyway_database_up 0$/m)
  expect(text).not.toMatch(/^keyway_(removal_oldest_seconds|clock_offset_seconds)\b/m)
  expect(text).toMatch(/^keyway_core_requests_total\{endpoint="\w+",class="5xx",status="503"\} /m)

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
})

test('killing the database during a transaction fails the transaction, not the host', async () => {
  // The database answers before the host has recorded its process id.
  await eventually(() => expect(core.host.databasePid()).not.toBeNull())
  const transaction = core.db.transaction(async (tx) => {
    await tx.execute('select 1')
    killDatabase(core.host.databasePid())
    // No query is sent while the connection is lost.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await tx.execute('select 1')
  })
  const error = await transaction.catch((thrown) => thrown)
  expect(isDatabaseUnavailable(error), String(error)).toBe(true)
})
