/** Hosts with wrong clocks use the clock of the database for everything that they share. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openDatabase } from '../../runtime/database/open.ts'
import { users } from '../../runtime/database/schema/people.ts'
import { createSharedClock } from '../../runtime/database/shared-clock.ts'
import { databaseTime } from '../../runtime/database/transactions.ts'
import { envelope } from '../e2e/several.ts'
import { fixture } from '../fixtures/folders.ts'
import { app, type CoreHost, startCore } from './host.ts'

const DAY_MS = 24 * 3_600_000

let core: CoreHost
let plugins: string
/** How far the clock of the host is ahead, in milliseconds. */
let aheadMs = 0

beforeAll(async () => {
  const now = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
  plugins = await mkdtemp(path.join(tmpdir(), 'keyway-clock-'))
  await cp(fixture('several'), path.join(plugins, 'several'), { recursive: true })
  core = await startCore({ KEYWAY_DROP_IN: 'open', KEYWAY_PLUGINS_DIR: plugins })
  await core.host.settled
})
afterAll(async () => {
  aheadMs = 0
  vi.restoreAllMocks()
  await core.stop()
  await rm(plugins, { recursive: true })
})

/** Requests the next page of a listing from a host whose clock is ahead. */
async function page(token: string | null, clockAheadMs: number) {
  aheadMs = clockAheadMs
  const reply = await core.host.app.request('/connectors/several-parts/list_accounts', {
    method: 'POST',
    headers: { host: 'localhost', 'content-type': 'application/json' },
    body: JSON.stringify({ ...envelope, request: {}, page: { token, size: 4 } }),
  })
  const { page: next, error } = (await reply.json()) as {
    page?: { token: string }
    error?: { error_code: string }
  }
  return { token: next?.token ?? '', code: error?.error_code }
}

test.each([
  ['ahead', 0, 3 * DAY_MS],
  ['behind', 3 * DAY_MS, 0],
])(
  'a host whose clock is days %s accepts the page tokens of another host',
  async (_, first, second) => {
    const { token } = await page(null, first)
    expect(token).not.toBe('')
    expect(await page(token, second)).toEqual({ token: expect.any(String), code: undefined })
  },
)

describe('the shared clock', () => {
  test('is the host’s until the database’s time is known, and advances from that', () => {
    let [host, count] = [1000, 50]
    const clock = createSharedClock(
      () => host,
      () => count,
    )
    expect(clock.now()).toBe(1000)
    clock.told(500_000)
    expect(clock.now()).toBe(500_000)
    host = 9_000_000
    count += 7
    expect(clock.now()).toBe(500_007)
    clock.told(400_000)
    expect(clock.now()).toBe(400_000)
  })

  test('follows the database on a host whose own clock is days ahead', async () => {
    aheadMs = 3 * DAY_MS
    const opened = await openDatabase(await core.login(), () => {})
    const there = await databaseTime(opened.db)
    expect(Math.abs(opened.now() - there.getTime())).toBeLessThan(DAY_MS)
    await opened.close()
  })
})

describe('on a host whose clock is days ahead, the time of the database is stored for', () => {
  let id = ''
  const isPast = async (column: string, table: string, where: string) => {
    const { rows } = await core.db.execute(
      sql.raw(`select ${column} <= clock_timestamp() as past from ${table} where ${where}`),
    )
    return rows
  }

  beforeAll(async () => {
    id = await app(core.db, 'Clocked', {
      connectorId: 'several-parts',
      sealedConnection: Buffer.from('sealed'),
    })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * DAY_MS })
  })
  afterAll(() => {
    vi.useRealTimers()
  })

  test('a changed person', async () => {
    const [me] = await core.db.update(users).set({ givenName: 'Ada' }).returning()
    expect(await isPast('updated_at', 'users', `id = '${me?.id}'`)).toEqual([{ past: true }])
  })

  test('changed sync settings', async () => {
    for (const every_hours of [7, 8])
      expect(
        await core.call('PUT', `/operator/apps/${id}/sync`, {
          body: { settings: { every_hours } },
        }),
      ).toMatchObject({
        status: 200,
      })
    expect(await isPast('updated_at', 'sync_settings', `app_id = '${id}'`)).toEqual([
      { past: true },
    ])
  })

  test('a disconnected app', async () => {
    expect((await core.call('DELETE', `/apps/${id}`)).status).toBeLessThan(300)
    expect(await isPast('disconnected_at', 'apps', `id = '${id}'`)).toEqual([{ past: true }])
  })
})
