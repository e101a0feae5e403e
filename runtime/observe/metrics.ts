/**
 * Metrics for Prometheus: registers METRICS, maintains the counters, and reads the gauges at each scrape. No
 * metric has more label sets than its row allows.
 */
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObject,
  Registry,
} from 'prom-client'
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  METRIC_NAMES,
  METRICS,
  type MetricName,
  type MetricRow,
  OTHER,
  type Readings,
} from '../contract/endpoints/metrics.ts'
import type { CauseKind } from '../contract/models/causes.ts'

export type Metrics = {
  /** Counts a finished call. `code` is `ok` or one of our own error codes, `cause` a kind of CAUSES. */
  call(
    connector: string,
    capability: string,
    ended: { code: string; cause: CauseKind },
    seconds: number,
  ): void
  /** Counts an upstream request. `outcome` is a status class such as `2xx`, or an error code. */
  upstream(connector: string, outcome: string, seconds: number): void
  /**
   * Counts an upstream request that was refused because too many, or too large ones, of its connector are
   * open.
   */
  upstreamRefused(connector: string): void
  workerEnded(reason: string): void
  /** Counts a call that runs again because its sandbox was lost. */
  callRepeated(): void
  /** Counts a worker that was given the lowest priority. */
  workerSlowed(): void
  /** Counts a response of the core interface. `endpoint` is a name of ENDPOINTS. */
  answered(endpoint: string, status: number, seconds: number): void
  /** Counts gauges that could not be read. */
  unread(measure: string): void
  /** Returns the metrics of all processes that serve the same port. */
  text(): Promise<string>
  /** Returns the metrics of this process, for the other processes. */
  json(): Promise<MetricObject[]>
  readonly contentType: string
}

/** Upper bounds of histogram buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Gauges of prom-client whose names are reserved for counters in Prometheus. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/**
 * Creates the host's metrics. `read` returns the gauges at each scrape, and `others` the results of `json` in
 * the other processes.
 */
export function createMetrics(
  read: () => Promise<Readings>,
  others: () => Promise<unknown[]> = () => Promise.resolve([]),
): Metrics {
  const collected = new Registry()
  collectDefaultMetrics({ register: collected })
  for (const name of MISNAMED) collected.removeSingleMetric(name)
  for (const name of METRIC_NAMES) register(collected, name)
  const counters = createBound<Count>()
  const histograms = createBound<ReturnType<Histogram['labels']>>()

  function counter<N extends CounterName>(name: N, labels: LabelsOf<N>): void {
    const bind = (bounded: Record<string, string>): Count => ({
      counted: 0,
      counter: metric<Counter>(collected, name).labels(bounded),
    })
    counters.within(name, labels, bind).counted += 1
  }
  const observe = <N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void =>
    histograms
      .within(name, labels, (bounded) => metric<Histogram>(collected, name).labels(bounded))
      .observe(seconds)

  /** Sets all gauges to the readings, and clears those that were not read. */
  function setGauges(readings: Readings): void {
    const left = new Map<string, number>([...counters.over(), ...histograms.over()])
    for (const name of GAUGES) {
      const rows = readings[name] ?? []
      const gauge = metric<Gauge>(collected, name)
      const { most } = METRICS[name]
      gauge.reset()
      // prom-client sets a gauge without labels to 0 when it is reset, but an unknown value is not 0.
      if (METRICS[name].labels.length === 0) gauge.remove()
      for (const { labels, value } of rows.slice(0, most)) gauge.set(labels, value)
      if (rows.length > most) left.set(name, rows.length - most)
    }
    const gauge = metric<Gauge>(collected, 'keyway_series_left_out')
    for (const [name, count] of left) gauge.set({ metric: name }, count)
  }

  /** Adds the counts since the last scrape to the counters. */
  function setCounters(): void {
    for (const one of counters.all()) {
      if (one.counted > 0) one.counter.inc(one.counted)
      one.counted = 0
    }
  }

  async function json(): Promise<MetricObject[]> {
    setGauges(await read())
    setCounters()
    return collected.getMetricsAsJSON()
  }

  return {
    call(connector, capability, { code, cause }, seconds) {
      counter('keyway_calls_total', { connector, capability, code, cause })
      observe('keyway_call_seconds', { connector, capability }, seconds)
    },
    upstream(connector, outcome, seconds) {
      counter('keyway_upstream_requests_total', { connector, outcome })
      observe('keyway_upstream_seconds', { connector }, seconds)
    },
    upstreamRefused: (connector) => counter('keyway_upstream_refused_total', { connector }),
    workerEnded: (reason) => counter('keyway_worker_ends_total', { reason }),
    callRepeated: () => counter('keyway_calls_repeated_total', {}),
    workerSlowed: () => counter('keyway_workers_slowed_total', {}),
    answered(endpoint, status, seconds) {
      const row = { endpoint, class: `${Math.floor(status / 100)}xx`, status: String(status) }
      counter('keyway_core_requests_total', row)
      observe('keyway_core_request_seconds', { endpoint }, seconds)
    },
    unread: (measure) => counter('keyway_measure_failures_total', { measure }),
    async text() {
      const [own, more] = await Promise.all([json(), others()])
      if (more.length === 0) return collected.metrics()
      // The cast: other processes run the same program and call the same `json`.
      return AggregatorRegistry.aggregate([own, ...(more as MetricObject[][])]).metrics()
    },
    json,
    contentType: collected.contentType,
  }
}

const isGauge = (name: MetricName): name is GaugeName => METRICS[name].type === 'gauge'
const GAUGES = METRIC_NAMES.filter(isGauge)

function register(registry: Registry, name: MetricName): void {
  const { type, labels, meaning, joined = 'max' }: MetricRow = METRICS[name]
  // Remove the marks of the reference's Markdown.
  const help = meaning.replaceAll('`', '')
  const options = { name, help, labelNames: labels, registers: [registry] }
  if (type === 'counter') new Counter(options)
  else if (type === 'gauge') new Gauge({ ...options, aggregator: joined })
  else new Histogram({ ...options, buckets: BUCKETS })
}

/** Count since the last scrape. Counting here is cheaper than in prom-client, and happens at every call. */
type Count = { counted: number; counter: ReturnType<Counter['labels']> }

/** Returns the metric registered under a name. The cast: its row determines its type. */
const metric = <T>(registry: Registry, name: MetricName): T => registry.getSingleMetric(name) as T

/**
 * Limits the label sets of counters or histograms to the limit of their row, for as long as the host runs. A child is a
 * metric with its labels bound: prom-client sorts and joins them once, not at each count.
 */
function createBound<Child>() {
  type Sets = { kept: Map<string, Child>; other: Child | null; over: Set<string> }
  const seen = new Map<MetricName, Sets>()
  return {
    /**
     * Returns the metric with its labels, or with `other` for all of them beyond the limit. `bind` creates it
     * once.
     */
    within(
      name: MetricName,
      labels: Record<string, string>,
      bind: (bounded: Record<string, string>) => Child,
    ): Child {
      const { most }: MetricRow = METRICS[name]
      let key = ''
      for (const label in labels) key += `\0${labels[label]}`
      let sets = seen.get(name)
      if (sets === undefined) {
        sets = { kept: new Map(), other: null, over: new Set() }
        seen.set(name, sets)
      }
      const known = sets.kept.get(key)
      if (known !== undefined) return known
      if (sets.kept.size < most) {
        const made = bind(labels)
        sets.kept.set(key, made)
        return made
      }
      // These are remembered only up to the limit too. The reported number is then a minimum.
      if (sets.over.size < most) sets.over.add(key)
      sets.other ??= bind(Object.fromEntries(Object.keys(labels).map((label) => [label, OTHER])))
      return sets.other
    },
    all: (): Child[] =>
      [...seen.values()].flatMap(({ kept, other }) => [
        ...kept.values(),
        ...(other ? [other] : []),
      ]),
    over: (): [MetricName, number][] =>
      [...seen]
        .filter(([, { over }]) => over.size > 0)
        .map(([name, { over }]) => [name, over.size]),
  }
}
