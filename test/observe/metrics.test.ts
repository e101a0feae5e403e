import { expect, test } from 'vitest'
import { METRIC_NAMES, METRICS, type Readings } from '../../runtime/contract/endpoints/metrics.ts'
import { createMetrics } from '../../runtime/observe/metrics.ts'

const none = async (): Promise<Readings> => ({})
const lines = (text: string, start: string) =>
  text.split('\n').filter((line) => line.startsWith(start))

test('every metric of the table is registered, and no other metric of Keyway', async () => {
  const text = await createMetrics(none).text()
  const named = [...text.matchAll(/^# TYPE (keyway_\S+) (\S+)$/gm)].map(([, name, type]) => [
    name,
    type,
  ])
  expect(named.sort()).toEqual(METRIC_NAMES.map((name) => [name, METRICS[name].type]).sort())
})

test('a metric that could not be read has no value, rather than 0', async () => {
  const text = await createMetrics(none).text()
  expect(lines(text, 'keyway_clock_offset_seconds')).toEqual([])
  expect(lines(text, 'keyway_removal_oldest_seconds')).toEqual([])
})

test('a gauge reports the latest reading, and drops series that are gone', async () => {
  const app = (app_id: string, value: number) => ({ labels: { app_id, connector: 'c' }, value })
  const reads: Readings[] = [
    { keyway_app_paused_seconds: [app('a', 1), app('b', 2)], keyway_apps_paused: [one(2)] },
    { keyway_app_paused_seconds: [app('b', 3)], keyway_apps_paused: [one(1)] },
  ]
  const metrics = createMetrics(async () => reads.shift() ?? {})
  expect(lines(await metrics.text(), 'keyway_app_paused_seconds')).toHaveLength(2)
  const text = await metrics.text()
  expect(lines(text, 'keyway_app_paused_seconds')).toEqual([
    'keyway_app_paused_seconds{app_id="b",connector="c"} 3',
  ])
  expect(lines(text, 'keyway_apps_paused')).toEqual(['keyway_apps_paused 1'])
})

const one = (value: number) => ({ labels: {}, value })

test('beyond the limit, counters and histograms use `other`, and the series left out are counted', async () => {
  const metrics = createMetrics(none)
  const { most } = METRICS.keyway_upstream_requests_total
  for (let n = 0; n < most + 3; n += 1) metrics.upstream(`connector-${n}`, '2xx', 0.1)
  metrics.upstream('connector-0', '2xx', 0.1)
  const text = await metrics.text()
  expect(lines(text, 'keyway_upstream_requests_total{')).toHaveLength(most + 1)
  expect(text).toContain('keyway_upstream_requests_total{connector="other",outcome="other"} 3')
  expect(text).toContain('keyway_upstream_requests_total{connector="connector-0",outcome="2xx"} 2')
  expect(text).toContain('keyway_series_left_out{metric="keyway_upstream_requests_total"} 3')
  expect(text).toMatch(/^keyway_upstream_seconds_count\{connector="other"\} \d+$/m)
})

test('beyond the limit, a gauge omits the last series, and they are counted', async () => {
  const { most } = METRICS.keyway_app_paused_seconds
  const rows = Array.from({ length: most + 2 }, (_, n) => ({
    labels: { app_id: `app-${n}`, connector: 'c' },
    value: 1,
  }))
  const metrics = createMetrics(async () => ({ keyway_app_paused_seconds: rows }))
  const text = await metrics.text()
  expect(lines(text, 'keyway_app_paused_seconds{')).toHaveLength(most)
  expect(text).not.toContain(`app_id="app-${most}"`)
  expect(text).toContain('keyway_series_left_out{metric="keyway_app_paused_seconds"} 2')
})

test('counters of several processes add up, and each gauge is combined as its row says', async () => {
  const reads = (calls: number, ready: number): Readings => ({
    keyway_calls_running: [one(calls)],
    keyway_ready: [one(ready)],
    keyway_connectors: [one(7)],
  })
  const other = createMetrics(async () => reads(2, 0))
  const metrics = createMetrics(
    async () => reads(3, 1),
    async () => [await other.json()],
  )
  for (const process of [metrics, metrics, other])
    process.call('c', 'list_accounts', { code: 'ok', cause: 'interface' }, 0.003)
  const text = await metrics.text()
  const told = [
    'keyway_calls_total{',
    'keyway_call_seconds_count',
    'keyway_calls_running',
    'keyway_ready ',
    'keyway_connectors ',
  ]
  expect(told.map((start) => lines(text, start).map((line) => line.split(' ').at(-1)))).toEqual([
    ['3'],
    ['3'],
    ['5'],
    ['0'],
    ['7'],
  ])
  // A metric that neither process could read is not 0.
  expect(lines(text, 'keyway_clock_offset_seconds')).toEqual([])
})
