/**
 * What Prometheus may ask: METRICS registered, counters kept here, gauges read at each scrape. No
 * metric has more sets of labels than its row allows.
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
  /** One finished call; `code` is `ok` or one of our own error codes, `cause` a kind of CAUSES. */
  call(
    connector: string,
    capability: string,
    ended: { code: string; cause: CauseKind },
    seconds: number,
  ): void
  /** One upstream request; `outcome` is a status class such as `2xx`, or an error code. */
  upstream(connector: string, outcome: string, seconds: number): void
  /** A request was not made because too many, or too large ones, of its connector are open. */
  upstreamRefused(connector: string): void
  workerEnded(reason: string): void
  /** A call runs once more, because its sandbox was lost. */
  callRepeated(): void
  /** A worker was given the lowest priority. */
  workerSlowed(): void
  /** The core interface answered. `endpoint` is a name of ENDPOINTS. */
  answered(endpoint: string, status: number, seconds: number): void
  /** Gauges could not be read. */
  unread(measure: string): void
  /** Those of all processes that serve the same port. */
  text(): Promise<string>
  /** Those of this process, for the others. */
  json(): Promise<MetricObject[]>
  readonly contentType: string
}

/** Upper bounds of times, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Gauges of prom-client under names that Prometheus keeps for counters. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/**
 * Makes the host's metrics; `read` is asked for the gauges at each scrape, and `others` is what the `json` of
 * the other processes gave.
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

  /** Sets all gauges to what was read, and takes away what was not. */
  function setGauges(readings: Readings): void {
    const left = new Map<string, number>([...counters.over(), ...histograms.over()])
    for (const name of GAUGES) {
      const rows = readings[name] ?? []
      const gauge = metric<Gauge>(collected, name)
      const { most } = METRICS[name]
      gauge.reset()
      // Without labels prom-client makes a 0 of a reset; what is not known is not 0.
      if (METRICS[name].labels.length === 0) gauge.remove()
      for (const { labels, value } of rows.slice(0, most)) gauge.set(labels, value)
      if (rows.length > most) left.set(name, rows.length - most)
    }
    const gauge = metric<Gauge>(collected, 'keyway_series_left_out')
    for (const [name, count] of left) gauge.set({ metric: name }, count)
  }

  /** Brings the counters up to what was counted. */
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
      // The cast: of the same program, by its `json`.
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
  // Marks of the reference's Markdown.
  const help = meaning.replaceAll('`', '')
  const options = { name, help, labelNames: labels, registers: [registry] }
  if (type === 'counter') new Counter(options)
  else if (type === 'gauge') new Gauge({ ...options, aggregator: joined })
  else new Histogram({ ...options, buckets: BUCKETS })
}

/** What was counted since the last scrape: to count here is cheaper than there, and this is done for every call. */
type Count = { counted: number; counter: ReturnType<Counter['labels']> }

/** What was registered under a name. The cast: of which type it is, its row says. */
const metric = <T>(registry: Registry, name: MetricName): T => registry.getSingleMetric(name) as T

/**
 * Keeps counters or histograms within the bound of their row, for as long as the host runs. A child is a metric with its
 * labels bound: prom-client sorts and joins them once, not at each count.
 */
function createBound<Child>() {
  type Sets = { kept: Map<string, Child>; other: Child | null; over: Set<string> }
  const seen = new Map<MetricName, Sets>()
  return {
    /** The metric with its labels, or with `other` for all of them; `bind` makes it once. */
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
      // Also these are remembered up to the bound only: then there are as many, or more.
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
