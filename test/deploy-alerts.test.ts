/** The alert rules of scripts/deploy: valid names, accepted by Prometheus, and each fires when it should. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createProgram, verbsOf } from '../runtime/cli/program.ts'
import { SETTINGS } from '../runtime/config/config.ts'
import { METRICS, type MetricName } from '../runtime/contract/endpoints/metrics.ts'
import { ALERTS, JOB } from '../scripts/alerts.ts'
import { PROMTOOL } from './promtool.ts'

const RULES = path.join(import.meta.dirname, '..', 'scripts', 'deploy', 'keyway.rules.yml')

test.each(Object.entries(ALERTS))(
  '%s names only metrics, labels, commands and settings that exist',
  (_, alert) => {
    const selectors = [...alert.expr.matchAll(/\b(keyway_\w+|up)\b(?:\{([^}]*)\})?/g)]
    expect(selectors).not.toEqual([])
    for (const [, name = '', matchers = ''] of selectors) {
      if (name === 'up') continue
      expect(Object.keys(METRICS)).toContain(name)
      const labels: readonly string[] = METRICS[name as MetricName].labels
      for (const [, label = ''] of matchers.matchAll(/(\w+)\s*[=!]/g))
        expect(labels).toContain(label)
    }
    const words = `${alert.means} ${alert.do}`
    const verbs = verbsOf(createProgram()).map(({ name }) => name)
    for (const [, verb = ''] of words.matchAll(/`keyway ([a-z-]+)/g)) expect(verbs).toContain(verb)
    for (const [name] of words.matchAll(/\b(KEYWAY_[A-Z_]+|DATABASE_URL)\b/g))
      expect(Object.keys(SETTINGS)).toContain(name)
    for (const [name] of words.matchAll(/\bKeyway[A-Z]\w+/g))
      expect(Object.keys(ALERTS)).toContain(name)
  },
)

/** Series of a host `h`, in the notation of promtool, with one value a minute. */
type Series = Readonly<Record<string, string>>
type Case = { fires: Series; quiet: Series; at?: string }

const app = '{app_id="a",connector="c"'
const CASES: Record<keyof typeof ALERTS, Case> = {
  KeywayHostGone: {
    fires: { [`up{job="${JOB}"}`]: '0x30' },
    quiet: { [`up{job="${JOB}"}`]: '1x30' },
  },
  KeywayNotReady: { fires: { keyway_ready: '0x30' }, quiet: { keyway_ready: '1 0x3 1x30' } },
  KeywayDatabaseAway: {
    fires: { keyway_database_up: '0x30' },
    quiet: { keyway_database_up: '1x30' },
  },
  KeywayDatabaseCrowded: {
    fires: { 'keyway_database_connections{state="waiting"}': '3x30' },
    quiet: {
      'keyway_database_connections{state="waiting"}': '0x30',
      'keyway_database_connections{state="busy"}': '30x30',
    },
  },
  KeywayClockOff: {
    fires: { keyway_clock_offset_seconds: '-3x30' },
    quiet: { keyway_clock_offset_seconds: '-1.5x30' },
  },
  KeywayRemovalOverdue: {
    fires: { 'keyway_removal_oldest_seconds{by="host"}': '3500+60x30' },
    quiet: {
      'keyway_removal_oldest_seconds{by="host"}': '60x30',
      'keyway_removal_oldest_seconds{by="people"}': '80000x30',
    },
  },
  KeywayRemovalLeftToPeople: {
    fires: { 'keyway_removal_oldest_seconds{by="people"}': '90000x30' },
    quiet: { 'keyway_removal_oldest_seconds{by="people"}': '80000x30' },
  },
  KeywayAppPaused: {
    fires: { [`keyway_app_paused_seconds${app}}`]: '3600+60x30' },
    quiet: { [`keyway_app_paused_seconds${app}}`]: '600+60x30' },
  },
  KeywaySyncBehind: {
    fires: {
      [`keyway_sync_behind_seconds${app}}`]: '10801x30',
      [`keyway_sync_interval_seconds${app}}`]: '3600x30',
    },
    quiet: {
      [`keyway_sync_behind_seconds${app}}`]: '10801x30',
      [`keyway_sync_interval_seconds${app}}`]: '86400x30',
    },
  },
  KeywayJobsStuck: {
    fires: { 'keyway_job_oldest_due_seconds{queue="syncs"}': '840+60x30' },
    quiet: { 'keyway_job_oldest_due_seconds{queue="syncs"}': '840x30' },
  },
  KeywayCoreFailing: {
    fires: {
      'keyway_core_requests_total{endpoint="list_users",class="2xx",status="200"}': '0+90x30',
      'keyway_core_requests_total{endpoint="list_users",class="5xx",status="503"}': '0+10x30',
    },
    quiet: {
      'keyway_core_requests_total{endpoint="list_users",class="2xx",status="200"}': '0+90x30',
      'keyway_core_requests_total{endpoint="list_users",class="5xx",status="500"}': '0+1x30',
      'keyway_core_requests_total{endpoint="create_app",class="5xx",status="502"}': '0+20x30',
    },
  },
  KeywayWorkersDying: {
    fires: { 'keyway_worker_ends_total{reason="crashed"}': '0+1x30' },
    quiet: {
      'keyway_worker_ends_total{reason="crashed"}': '7x30',
      'keyway_worker_ends_total{reason="stopped"}': '0+9x30',
    },
  },
  KeywayConnectorQuarantined: {
    fires: { keyway_connectors_quarantined: '1x30' },
    quiet: { keyway_connectors_quarantined: '0x30' },
  },
  KeywayDiskFull: {
    fires: {
      'keyway_disk_free_bytes{place="data"}': '9x30',
      'keyway_disk_size_bytes{place="data"}': '100x30',
    },
    quiet: {
      'keyway_disk_free_bytes{place="data"}': '11x30',
      'keyway_disk_size_bytes{place="data"}': '100x30',
    },
  },
  KeywayNoBackup: {
    // The clock of promtool starts in 1970.
    fires: { keyway_last_backup_timestamp_seconds: '-200000x90' },
    quiet: { keyway_last_backup_timestamp_seconds: '-100000x90' },
    at: '80m',
  },
  KeywayMetricsUnread: {
    fires: {
      'keyway_measure_failures_total{measure="syncs"}': '0+1x30',
      keyway_database_up: '1x30',
    },
    quiet: {
      'keyway_measure_failures_total{measure="syncs"}': '0+1x30',
      keyway_database_up: '0x30',
    },
  },
  KeywaySeriesLeftOut: {
    fires: { 'keyway_series_left_out{metric="keyway_sync_state"}': '2x30' },
    quiet: { 'keyway_series_left_out{metric="keyway_calls_total"}': '0x30' },
  },
}

test('each rule is covered', () => {
  expect(Object.keys(CASES).sort()).toEqual(Object.keys(ALERTS).sort())
})

const onHost = (name: string): string =>
  name.includes('{') ? name.replace('{', '{instance="h",') : `${name}{instance="h"}`

/** A promtool test of whether a rule fires for some series, in JSON, which is valid YAML. */
function tried(name: string, series: Series, at: string, fires: boolean) {
  return {
    name: `${name}, ${fires ? 'fires' : 'is quiet'}`,
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: onHost(one), values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) or vector(0)`,
        eval_time: at,
        exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }],
      },
    ],
  }
}

const skipped = PROMTOOL === null
if (skipped)
  console.warn('promtool is not installed (Debian: prometheus): the alert rules are not tried')

test.skipIf(skipped)('Prometheus accepts the rules', () => {
  const { status, stdout, stderr } = spawnSync(PROMTOOL as string, ['check', 'rules', RULES], {
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).toBe(0)
  expect(stdout).toContain(`${Object.keys(ALERTS).length} rules found`)
})

test.skipIf(skipped)('each rule fires when it should, and not before', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'keyway-rules-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'tests.yml')
  const tests = Object.entries(CASES).flatMap(([name, { fires, quiet, at = '25m' }]) => [
    tried(name, fires, at, true),
    tried(name, quiet, at, false),
  ])
  await writeFile(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  const { status, stdout, stderr } = spawnSync(PROMTOOL as string, ['test', 'rules', file], {
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).toBe(0)
})
