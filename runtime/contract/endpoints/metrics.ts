/**
 * Metrics of `GET /metrics`, in addition to prom-client's metrics of the process. One row per metric.
 * Registration, the reference and the test of the alert rules read them.
 */

import { RUN_STATES } from '../models/sync.ts'
import { keysOf } from '../schema/keys.ts'

export type MetricRow = {
  type: 'counter' | 'gauge' | 'histogram'
  labels: readonly string[]
  meaning: string
  /** Maximum number of label sets. `OVER_BOUND` describes what happens to others. */
  most: number
  /**
   * How values of several processes behind one port are combined. For a gauge the default is the maximum,
   * because each process reads it from the same database. Counters and histograms are added up.
   */
  joined?: 'max' | 'min' | 'sum'
}

/** Description of what happens above `most`. */
export const OVER_BOUND =
  'Above its bound, a counter or histogram counts further label sets under `other`, and a gauge omits the last ones in its order. `keyway_series_left_out` counts them by metric.'

/** Maximum number of apps with series of their own. */
export const MAX_APPS = 1000
/** Rows of a kind are counted up to this number, which then means "or more". */
export const MAX_COUNTED = 10_000

/** Label value for everything above a bound. */
export const OTHER = 'other'

/** A gauge with a single value. */
const single = { type: 'gauge', labels: [], most: 1 } as const
/** A gauge with a value for each app. */
const ofApp = { type: 'gauge', labels: ['app_id', 'connector'], most: MAX_APPS } as const

export const METRICS = {
  keyway_ready: {
    ...single,
    joined: 'min',
    meaning: '1 if `/readyz` reports that the host is ready, else 0',
  },
  keyway_calls_total: {
    type: 'counter',
    labels: ['connector', 'capability', 'code', 'cause'],
    meaning: 'Capability calls by outcome and cause',
    most: 5000,
  },
  keyway_call_seconds: {
    type: 'histogram',
    labels: ['connector', 'capability'],
    meaning: 'Time from a request to its response',
    most: 1000,
  },
  keyway_calls_running: {
    ...single,
    joined: 'sum',
    meaning: 'Calls that currently run in sandboxes',
  },
  keyway_calls_waiting: {
    type: 'gauge',
    labels: ['for'],
    meaning: 'Calls that wait for a `turn` (a free slot of their tenant), or for an `isolate`',
    most: 2,
    joined: 'sum',
  },
  keyway_calls_repeated_total: {
    type: 'counter',
    labels: [],
    meaning: 'Calls that ran again because their worker process died',
    most: 1,
  },
  keyway_upstream_requests_total: {
    type: 'counter',
    labels: ['connector', 'outcome'],
    meaning:
      'Requests to third-party systems; `outcome` is a status class such as `2xx`, or an error code',
    most: 2000,
  },
  keyway_upstream_seconds: {
    type: 'histogram',
    labels: ['connector'],
    meaning: 'Time of a request to a third-party system',
    most: 500,
  },
  keyway_upstream_refused_total: {
    type: 'counter',
    labels: ['connector'],
    meaning:
      'Requests to third-party systems that were refused because too many, or too large ones, are open',
    most: 500,
  },
  keyway_connectors: { ...single, meaning: 'Connectors that are served' },
  keyway_connectors_suspect: { ...single, meaning: 'Connectors that are suspect on this host' },
  keyway_connectors_quarantined: {
    ...single,
    meaning: 'Connectors that are quarantined on this host',
  },
  keyway_isolates: { ...single, joined: 'sum', meaning: 'Warm isolates' },
  keyway_lanes: { ...single, joined: 'sum', meaning: 'Lanes that are open' },
  keyway_worker_ends_total: {
    type: 'counter',
    labels: ['reason'],
    meaning: 'Worker processes that ended, by reason; `stopped`: by the host itself',
    most: 20,
  },
  keyway_workers_slowed_total: {
    type: 'counter',
    labels: [],
    meaning: 'Worker processes that used CPU without responding',
    most: 1,
  },
  keyway_core_requests_total: {
    type: 'counter',
    labels: ['endpoint', 'class', 'status'],
    meaning: 'Responses of the core interface by endpoint, status class such as `5xx`, and status',
    most: 1000,
  },
  keyway_core_request_seconds: {
    type: 'histogram',
    labels: ['endpoint'],
    meaning: 'Time from a request to the core interface to its response',
    most: 200,
  },
  keyway_database_up: {
    ...single,
    joined: 'min',
    meaning:
      '1 if the database answered within a second, else 0; metrics read from it are then absent',
  },
  keyway_database_connections: {
    type: 'gauge',
    labels: ['state'],
    meaning:
      'Connections of this host that are `busy` or `idle`, and queries `waiting` for one of them',
    most: 3,
    joined: 'sum',
  },
  keyway_clock_offset_seconds: {
    ...single,
    meaning: 'How far this host’s clock is ahead of the database’s; negative if it is behind',
  },
  keyway_access_requests: {
    type: 'gauge',
    labels: ['state'],
    meaning: `Access requests that have not ended, except granted ones (COMPLETED); ${MAX_COUNTED} means that many or more`,
    most: 40,
  },
  keyway_mails: {
    type: 'gauge',
    labels: ['state'],
    meaning: `Mails: \`waiting\` are due, \`failing\` were deferred by the server, \`refused\` were refused within a day; ${MAX_COUNTED} means that many or more`,
    most: 3,
  },
  keyway_access_requests_failing: {
    type: 'gauge',
    labels: ['todo'],
    meaning: `Access requests whose next step (\`check\`, \`grant\` or \`remove\`) failed last time; ${MAX_COUNTED} means that many or more`,
    most: 3,
  },
  keyway_removal_oldest_seconds: {
    type: 'gauge',
    labels: ['by'],
    meaning:
      'Age of the oldest access still to be removed, since it expired or its removal first failed; to be removed by the `host`, or by `people` with a task. 0: there is none',
    most: 2,
  },
  keyway_sync_last_success_timestamp_seconds: {
    ...ofApp,
    meaning: 'Time of the last successful sync of an app; absent if there was none',
  },
  keyway_sync_behind_seconds: {
    ...ofApp,
    meaning:
      'Time since the last successful sync of an app, or since the app was created; only for apps with a schedule',
  },
  keyway_sync_interval_seconds: {
    ...ofApp,
    meaning: 'Interval of scheduled syncs of an app; only for apps with a schedule',
  },
  keyway_sync_state: {
    type: 'gauge',
    labels: [...ofApp.labels, 'state'],
    meaning: `1 for the state of an app’s last sync: ${RUN_STATES.join(', ')}, or NEVER`,
    most: MAX_APPS,
  },
  keyway_apps_paused: {
    ...single,
    meaning: 'Apps that are paused because their system does not answer',
  },
  keyway_app_paused_seconds: {
    ...ofApp,
    meaning: 'How long the system of a paused app has not answered, longest first',
  },
  keyway_job_oldest_due_seconds: {
    type: 'gauge',
    labels: ['queue'],
    meaning: 'How long the oldest job of a queue has been due without starting; 0: none is due',
    most: 40,
  },
  keyway_disk_free_bytes: {
    type: 'gauge',
    labels: ['place'],
    meaning:
      'Free space on the file system of the `data` directory, and of the embedded `database`',
    most: 2,
  },
  keyway_disk_size_bytes: {
    type: 'gauge',
    labels: ['place'],
    meaning: 'Size of the file system of the `data` directory, and of the embedded `database`',
    most: 2,
  },
  keyway_last_backup_timestamp_seconds: {
    ...single,
    meaning:
      'Time up to which the last backup of the embedded database is complete; 0: there was none. Absent with an external database',
  },
  keyway_measure_failures_total: {
    type: 'counter',
    labels: ['measure'],
    meaning: 'Failures to read metrics from the database or the disk; the log has the reasons',
    most: 20,
  },
  keyway_series_left_out: {
    type: 'gauge',
    labels: ['metric'],
    meaning: 'Label sets of a metric above its bound',
    most: 100,
    joined: 'sum',
  },
} as const satisfies Record<string, MetricRow>

export type MetricName = keyof typeof METRICS
export const METRIC_NAMES = keysOf(METRICS)

type OfType<T extends MetricRow['type']> = {
  [N in MetricName]: (typeof METRICS)[N]['type'] extends T ? N : never
}[MetricName]
export type GaugeName = OfType<'gauge'>
export type CounterName = OfType<'counter'>
export type HistogramName = OfType<'histogram'>

export type LabelsOf<N extends MetricName> = Record<(typeof METRICS)[N]['labels'][number], string>

/** Values of gauges, each with its labels. A gauge that is not listed has no series. */
export type Readings = {
  [N in GaugeName]?: readonly { labels: LabelsOf<N>; value: number }[]
}

/** Returns the single value of a gauge without labels. */
export const only = (value: number) => [{ labels: {}, value }]
