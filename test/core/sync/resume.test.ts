/** A run that is interrupted at any page continues on another host and ends with the exact result. */
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CoreHost } from '../host.ts'
import { accountsOf, ask, associationsOf, connect, ended, startSynced, trigger } from './synced.ts'
import {
  account,
  association,
  entitlement,
  hang,
  startUpstream,
  type Upstream,
} from './upstream.ts'

const ACCOUNTS = 60
/** How often a host is stopped; more often with `LONG=1`. */
const STOPS = process.env['LONG'] ? 15 : 3
const ids = Array.from({ length: ACCOUNTS }, (_, n) => `a${String(n).padStart(3, '0')}`)

let upstream: Upstream
let core: CoreHost

beforeEach(async () => {
  upstream = await startUpstream()
  upstream.holds = {
    accounts: ids.map((id) => account(id)),
    resources: [],
    entitlements: ['g0', 'g1', 'g2'].map((id) => entitlement(id)),
    associations: ids.flatMap((id) => ['g0', 'g1', 'g2'].map((group) => association(id, group))),
    activity: ids.map((id) => ({
      account_id: id,
      event_type: 'last_login',
      happened_at: '2026-11-01T10:00:00Z',
    })),
  }
  core = await startSynced(upstream)
})
afterEach(async () => {
  await core.stop()
  await upstream.close()
})

const smallPages = (appId: string) =>
  core.call('PUT', `/operator/apps/${appId}/sync`, { body: { settings: { page_size: 10 } } })

/** Checks that every row is there once, and that no written page was counted again. */
async function expectWhole(appId: string): Promise<void> {
  const run = await ended(core, appId)
  expect([run.state, run.problem]).toEqual(['SUCCEEDED', null])
  expect((await accountsOf(core, appId)).map(({ id, gone }) => [id, gone])).toEqual(
    ids.map((id) => [id, false]),
  )
  expect(await associationsOf(core, appId)).toHaveLength(ACCOUNTS * 3)
  expect(run.counts).toMatchObject({
    accounts: ACCOUNTS,
    entitlements: 3,
    associations: ACCOUNTS * 3,
  })
  const used = await ask(core, sql`select from accounts where last_login is not null`)
  expect(used).toHaveLength(ACCOUNTS)
}

test('a run is completed even if its host stops repeatedly, at any page', {
  timeout: 180_000,
}, async () => {
  const appId = await connect(core, upstream)
  expect((await smallPages(appId)).status).toBe(200)
  expect((await trigger(core, appId)).status).toBe(202)
  const total = 6 + 1 + 1 + 18 + 1
  for (let stop = 0; stop < STOPS; stop += 1) {
    const reached = Promise.withResolvers<void>()
    let left = 1 + Math.floor(Math.random() * (total / 4))
    upstream.before = () => {
      left -= 1
      if (left > 0) return undefined
      reached.resolve()
      return hang()
    }
    await Promise.race([reached.promise, ended(core, appId)])
    await core.stop({ keep: true })
    upstream.before = () => undefined
    core = await startSynced(upstream, { from: core.dataDir })
  }
  await expectWhole(appId)
})

test('a phase restarts if its page token is no longer valid', async () => {
  const appId = await connect(core, upstream)
  await smallPages(appId)
  let refusals = 0
  upstream.before = (kind, cursor) => {
    if (kind !== 'associations' || cursor !== '60' || refusals >= 2) return undefined
    refusals += 1
    return { status: 410, code: 'invalid_page_token' }
  }
  await trigger(core, appId)
  const run = await ended(core, appId)
  expect([run.state, run.counts['restarts']]).toEqual(['SUCCEEDED', 2])
  expect(await associationsOf(core, appId)).toHaveLength(ACCOUNTS * 3)
})

test('a run fails with a message if its page tokens are always refused', async () => {
  const appId = await connect(core, upstream)
  await smallPages(appId)
  upstream.before = (kind, cursor) =>
    kind === 'accounts' && cursor === '20' ? { status: 410, code: 'invalid_page_token' } : undefined
  await trigger(core, appId)
  const run = await ended(core, appId)
  expect([run.state, run.problem]).toEqual([
    'FAILED',
    expect.stringMatching(/was restarted 5 times/),
  ])
})

test('a host that lost its lease to another host writes nothing under the old lease', async () => {
  const appId = await connect(core, upstream)
  await smallPages(appId)
  const held = Promise.withResolvers<undefined>()
  const asked = Promise.withResolvers<void>()
  let first = true
  upstream.before = (kind, cursor) => {
    if (kind !== 'accounts' || cursor !== '30' || !first) return undefined
    first = false
    asked.resolve()
    return held.promise
  }
  await trigger(core, appId)
  await asked.promise
  // As if the host had been paused for long, and another one had taken over the run.
  const other = '00000000-0000-4000-8000-000000000001'
  await core.db.execute(
    sql`update sync_runs set lease_by = ${other}, lease_until = now() + interval '1 hour'`,
  )
  let asksAgain = 0
  upstream.before = (kind, cursor) => {
    if (kind === 'accounts' && cursor === '30') asksAgain += 1
    return undefined
  }
  held.resolve(undefined)
  // The page is discarded; the host that takes over the run requests it again.
  await expectWhole(appId)
  expect(asksAgain).toBe(1)
})
