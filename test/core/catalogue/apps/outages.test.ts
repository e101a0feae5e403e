/** Which host probes whether the system of a paused app is back. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Gate,
  recordOutage,
  releaseProbe,
  requestCall,
} from '../../../../runtime/core/catalogue/apps/outages.ts'
import { later } from '../../../../runtime/core/kernel/jobs/retry-schedules.ts'
import { appOutages, apps } from '../../../../runtime/database/schema/apps.ts'
import { type CoreHost, domainOf, startCore } from '../../host.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
  await core.host.settled
})
afterAll(() => core.stop())

const probeOf = (gate: Gate): Date => {
  if (!gate.open || !gate.probe) throw new Error('the call is not a probe')
  return gate.probe
}

test('a host that ends its expired probe does not end the probe of another host', async () => {
  const { db } = core
  const [app] = await db
    .insert(apps)
    .values({ domainId: await domainOf(db), appClassId: 'synced', instanceId: '1', name: 'Paused' })
    .returning()
  if (!app) throw new Error('the app was not inserted')
  const now = new Date()
  const fault = { code: 'service_error', problem: 'gone' } as const
  const { until } = await recordOutage(db, app, { probe: null }, fault, now, () => undefined)
  const first = probeOf(await requestCall(db, app, until))
  // The first probe exceeded its time limit, so a second one starts.
  const second = probeOf(await requestCall(db, app, first))
  await releaseProbe(db, app, first, later(first, 1000))
  const [outage] = await db.select().from(appOutages).where(eq(appOutages.appId, app.id))
  expect(outage?.until).toEqual(second)
  expect(await requestCall(db, app, later(first, 2000))).toEqual({ open: false, until: second })
  await releaseProbe(db, app, second, later(first, 3000))
  probeOf(await requestCall(db, app, later(first, 4000)))
})
